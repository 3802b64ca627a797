import type { FailureCause } from './errors.js';

/** A piece of work for a sub-agent. */
export interface DelegatedTask {
  /** What to do, with all that the sub-agent needs to know. The sub-agent sees nothing else. */
  prompt: string;
  /**
   * Another personality. The sub-agent may then do what both it and the caller's personality allow.
   * The caller's alone when absent.
   */
  personality?: string;
  /** Names of tools that the caller has. All of them when absent. */
  tools?: readonly string[];
  /** Model calls at most; never more than the host allows. */
  maxSteps?: number;
  /** Milliseconds at most; never more than the host allows. */
  timeoutMs?: number;
}

/**
 * How a delegated task stands.
 *
 * - `failed`: it came to a limit, or the model failed. What it had said until then is there.
 * - `cancelled`: by `cancel`, by the end of its call, session or agent, or because the budget of the turn
 *   was used up.
 * - `interrupted`: the process that ran it ended, or another process still runs it. It does not begin
 *   again, and only that process can cancel it.
 */
export type DelegationState = 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

/** How a delegated task stands. */
export interface DelegationInfo {
  /** Also the id of the sub-agent's session. */
  id: string;
  state: DelegationState;
  prompt: string;
  /** The personality that it runs under. */
  personalityId?: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Milliseconds since the epoch. */
  endedAt?: number;
  /** Model calls, and tool calls, so far. */
  steps: number;
  calls: number;
  /** US dollars so far, where prices are known. */
  costUsd: number;
  /** What the sub-agent answered. */
  result?: string;
  /** Why there is no result, or not the whole one. */
  error?: string;
  /** Why it failed or was cancelled, as the `cause` of a result. */
  cause?: FailureCause;
  /**
   * Whether an outsider may have had a hand in the result. `false` only for a task that has ended
   * and had read nothing untrusted.
   */
  untrusted: boolean;
}

/** A call whose result only a model without tools reads, to answer a question. */
export interface QuarantinedRead {
  /** The name of the tool. The call passes the same gates as the caller's own calls. */
  tool: string;
  args: unknown;
  question: string;
  /** A closed schema: its values hold no free text. */
  schema: Record<string, unknown>;
}

/**
 * A value of the schema, or the reason why there is no value. No word of the reason comes from the
 * content.
 */
export type QuarantinedValue =
  | { ok: true; value: unknown }
  | { ok: false; error: string; cause: FailureCause };

/** Sub-agents for the session of a call. */
export interface ScopedDelegation {
  /**
   * Runs a task to its end. When the call ends, the task is ended.
   *
   * @param onProgress is told what the sub-agent does, in a few words
   * @throws `DELEGATION_LIMIT` for a task that is too deep or one too many; `DELEGATION_REFUSED`
   * for a personality or a tool that the caller can't give
   */
  run(task: DelegatedTask, onProgress?: (message: string) => void): Promise<DelegationInfo>;
  /** Starts a task that outlives the call, and ends with the session. Throws as `run`. */
  start(task: DelegatedTask): Promise<DelegationInfo>;
  /**
   * The tasks that `start` began in this session, the oldest first. Includes those of earlier
   * processes.
   */
  list(): Promise<DelegationInfo[]>;
  /**
   * @param opts `waitMs`: milliseconds to wait for the end of a task that runs
   * @throws `DELEGATION_NOT_FOUND`
   */
  get(id: string, opts?: { waitMs?: number }): Promise<DelegationInfo>;
  /** Ends a task, and waits for it. @throws `DELEGATION_NOT_FOUND` */
  cancel(id: string): Promise<DelegationInfo>;
  /**
   * Has a model without tools read the result of a call, and answer with a value of a schema.
   * @throws `DELEGATION_REFUSED` where the host has no such reader
   */
  read(asked: QuarantinedRead): Promise<QuarantinedValue>;
}

/** What is known of the call that delegates. */
export interface DelegationCaller {
  sessionId: string;
  personalityId?: string;
  toolCallId?: string;
  /** Fires when the call ends or is aborted. */
  signal: AbortSignal;
}

/** What stands behind `ScopedDelegation`. Each method does the same, for the given caller. */
export interface DelegationProvider {
  /** Runs a task, and waits for its end. */
  run(
    caller: DelegationCaller,
    task: DelegatedTask,
    onProgress?: (message: string) => void,
  ): Promise<DelegationInfo>;
  /** Starts a task, and does not wait. */
  start(caller: DelegationCaller, task: DelegatedTask): Promise<DelegationInfo>;
  /** The caller's tasks. */
  list(caller: DelegationCaller): Promise<DelegationInfo[]>;
  /** How a task stands. Waits for its end, `waitMs` milliseconds at most. */
  get(caller: DelegationCaller, id: string, opts?: { waitMs?: number }): Promise<DelegationInfo>;
  /** Ends a task, and waits for it. */
  cancel(caller: DelegationCaller, id: string): Promise<DelegationInfo>;
  /** Absent where the host has no reader for quarantine. */
  read?(caller: DelegationCaller, asked: QuarantinedRead): Promise<QuarantinedValue>;
}
