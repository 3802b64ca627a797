import type { ClosedValue } from '@ethosagent/policy';
import type {
  FailureCause,
  GrantScope,
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  ToolErrorCode,
  ToolProgressEvent,
  TurnAttachment,
} from '@ethosagent/types';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import type { ResultImage } from '../results/given-images.js';

/** For whom a session runs. */
export interface SessionIdentity {
  /** For people, e.g. `cli:my-repo`. */
  sessionKey?: string;
  /** The surface: `cli`, `telegram`, … */
  platform?: string;
  agentId?: string;
  memoryScope?: 'global' | 'per-personality';
  memoryScopeId?: string;
  userScopeId?: string;
  teamId?: string;
}

/** Where content comes from that somebody else may have written. */
export interface UntrustedSource {
  /** A URL, a path, a command, or the name of the tool. */
  source: string;
  tool: string;
}

/** A yes for more than one call. It answers questions, and never lifts a refusal. */
export interface SessionGrant {
  id: string;
  scope: GrantScope;
  toolName: string;
  /** What was approved, where the grant is for exactly these arguments. */
  args?: unknown;
  /** Stands for the tool as it was: the grant ends where it changes. */
  tool: string;
  /** The grant ends where the call could reach something else, or the tool is set otherwise. */
  capabilities: ResolvedGrant;
  settings?: unknown;
  /**
   * The sources of untrusted content that were known when it was asked: once there is another, it is
   * asked again. The last one stands for all others where there are more than 50.
   */
  sources: UntrustedSource[];
  personalityId: string;
  /** For whom the session ran. */
  userScopeId?: string;
  teamId?: string;
  /** Milliseconds since the epoch. */
  grantedAt: number;
  /** Who granted it, as the host says. */
  by?: string;
}

/** What somebody says to a call that waits. */
export interface CallDecision {
  approved: boolean;
  /** The model gets to read it. */
  reason?: string;
  /**
   * The arguments that are to run instead of those that were proposed. They are validated and
   * judged as the model's are.
   */
  args?: unknown;
  /** Say yes to later calls too, where the personality lets it. */
  always?: GrantScope;
  /** Who decides, for the record. */
  by?: string;
}

/** A call that waits for a decision, as it is stored. */
export interface PendingApproval {
  toolCallId: string;
  /** Stands for all that is asked: the call, its reach, the reason, and the tool as it was. */
  question: string;
  toolName: string;
  /** What would run: as the tool's schema makes it of `input`, or as it was edited. */
  args: unknown;
  /** The arguments as the model issued them. */
  input: unknown;
  /** Stands for the tool as it was: a yes to more calls is a yes to this one. Absent where it is gone. */
  tool?: string;
  /** Under which it was asked. */
  personalityId?: string;
  capabilities: ResolvedGrant;
  reason: string;
  /** What the personality sets for the tool. */
  settings?: unknown;
  /** Milliseconds since the epoch. */
  askedAt: number;
  /**
   * The turn of an agent that waits for it: it goes on with `AgentLoop.resume`. Absent for a call that
   * was made in the session.
   */
  turn?: number;
  /** Once somebody has decided. */
  decision?: CallDecision;
  /**
   * Why the call could not run now, whatever is decided: `pending` says so where the tool is gone, or
   * the personality has lost it. It still waits; refuse it, or `withdraw` it.
   */
  cannotRun?: string;
}

/** The answer to a call of a session. */
export interface SessionResult extends ToolCallResult {
  /**
   * What the model reads: the value, or the code and the error. Marked where somebody else may have
   * written it, as `result` is. A line at its end says which images are smaller now, or left out.
   */
  text: string;
  /** As the session's model takes them. */
  images: ResultImage[];
  /** Milliseconds from the begin of the tool to its end; 0 where it did not run. */
  durationMs: number;
  /** The call did not run: it waits for this decision. `decide`, then `resume` or the same call again. */
  approval?: PendingApproval;
}

/** What one batch of a session has of its own. */
export interface SessionBatchOptions {
  abortSignal?: AbortSignal;
  attachments?: readonly TurnAttachment[];
  /** Characters for the results of the whole batch. 80,000 when absent. */
  resultBudgetChars?: number;
  /** The number of the turn, from 1. Tools and reducers see it. */
  currentTurn?: number;
  messageCount?: number;
  dryRun?: boolean;
  /** The names of the tools that the batch may use, of those that the personality has. */
  tools?: readonly string[];
  /** Progress for the audiences `user` and `dashboard`. */
  onProgress?: (event: ToolProgressEvent, toolCallId: string) => void;
  /** Told of each result as soon as it is there, before it is marked. */
  onResult?: (result: ToolCallResult) => void;
}

/**
 * What a session may use up. Over a limit its calls are refused. All calls of the session count,
 * whichever object or agent made them. Other processes know of those that were made with a limit of
 * calls or of cost.
 */
export interface SessionLimits {
  /** Calls. No limit when absent. */
  maxCalls?: number;
  /** US dollars that tools say they cost. No limit when absent. */
  maxCostUsd?: number;
  /** Characters for the results of one batch of calls. 80,000. */
  resultBudgetChars?: number;
}

/** What a model is asked that reads untrusted content and has no tools. */
export interface QuarantinePrompt {
  system: string;
  /** The question, the schema, and the content, marked. */
  text: string;
  images: readonly ResultImage[];
  /** The schema of the answer, for models that can be held to one. */
  schema: Record<string, unknown>;
  signal: AbortSignal;
}

/** Asks a model. It must have no tools; what it gives is JSON, as text or parsed. */
export type QuarantineModel = (prompt: QuarantinePrompt) => unknown;

/** Calls whose results are read for their answer to a question. */
export interface QuarantineRequest {
  calls: readonly ToolCall[];
  question: string;
  /** A closed schema: no value of it holds free text. See `compileClosedSchema`. */
  schema: Record<string, unknown>;
  read: QuarantineModel;
}

/** A value of the schema, or why there is none: in words that no content has a part in. */
export type QuarantineAnswer =
  | { ok: true; value: ClosedValue }
  | {
      ok: false;
      code: ToolErrorCode;
      error: string;
      cause: FailureCause;
      /** The calls that wait for a decision: `decide`, then ask again with the same ids. */
      approvals?: PendingApproval[];
    };

/** What would become of a call. Nothing runs. */
export type CallCheck =
  | { kind: 'runs' }
  /** It is written down, and waits for `decide`. */
  | { kind: 'asks'; approval: PendingApproval }
  | { kind: 'refused'; result: SessionResult };

/**
 * The tools of a runtime in one conversation, whoever runs it. It knows what was read that somebody
 * else may have written, asks before calls with effects from then on, marks what the model reads,
 * and keeps what waits for a decision. All of that is stored: another process with the same home
 * goes on with it.
 */
export interface ToolSession {
  readonly id: string;
  readonly personalityId: string;
  /** What the model is told. The caller may change its copy. @throws `CONFIG_INVALID` */
  definitions(): Promise<ToolDefinition[]>;
  /**
   * Runs a batch of calls. Results are in the order of the calls; nothing throws. A call with the id
   * and the arguments of one that was approved runs once.
   */
  execute(calls: readonly ToolCall[], options?: SessionBatchOptions): Promise<SessionResult[]>;
  /**
   * Writes down a call that whoever runs the model has refused before it came here, e.g. of a tool that
   * a framework does not know. It goes through no gate, and nothing runs. Never throws.
   *
   * @param why `input_invalid` for arguments that are no JSON
   * @returns the answer for the model
   */
  refuse(
    call: ToolCall,
    why: { code: 'not_available' | 'input_invalid'; error: string },
  ): Promise<SessionResult>;
  /**
   * Goes through the gates of a call without running it, for frameworks that ask by themselves.
   * What must be approved is then pending.
   */
  check(call: ToolCall): Promise<CallCheck>;
  /**
   * The calls that wait, those of an agent's turns included: those that nobody has decided, and those
   * that were decided and not run.
   */
  pending(): Promise<PendingApproval[]>;
  /**
   * Decides on a call that waits, from any process.
   *
   * @param approval as a result, `check` or `pending` showed it
   * @throws `APPROVAL_INVALID` when no such call waits, it asks for something else now, or the
   * personality forbids such a grant; `ALREADY_DECIDED` for another decision than one that was made;
   * `INPUT_INVALID` for
   * arguments that the tool does not take, `PATH_NOT_REACHABLE` and others for what it may not reach
   */
  decide(
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void>;
  /**
   * Takes a call out that waits, decided or not: it does not run, and nobody is told but the model of
   * an agent's turn that waits for it. Says whether it was there.
   */
  withdraw(approval: Pick<PendingApproval, 'toolCallId' | 'question'>): Promise<boolean>;
  /**
   * Runs what was approved and answers what was refused, in the order in which it was asked. What a
   * turn of an agent waits for, its loop goes on with.
   */
  resume(options?: SessionBatchOptions): Promise<SessionResult[]>;
  /**
   * Runs calls, has their results read by a model without tools, and gives its answer as a value of
   * a closed schema. The results reach nobody else, so the session has not read them. They pass the
   * gates of this session, as with `execute`. Never throws.
   */
  readQuarantined(
    request: QuarantineRequest,
    options?: Pick<SessionBatchOptions, 'abortSignal' | 'resultBudgetChars' | 'tools'>,
  ): Promise<QuarantineAnswer>;
  /**
   * The untrusted content that the session has read, the first first. After 50 sources, one entry
   * stands for all others.
   */
  sources(): Promise<UntrustedSource[]>;
  /** Says that untrusted content came in by another way, e.g. with the user's message. */
  addSource(source: UntrustedSource): Promise<void>;
  /** The grants that hold in this session. */
  grants(): Promise<SessionGrant[]>;
  /** Ends a grant, and says whether it was there. */
  revoke(grantId: string): Promise<boolean>;
  /** Ends what tools left running and waits for it. What is stored stays. */
  end(): Promise<void>;
}
