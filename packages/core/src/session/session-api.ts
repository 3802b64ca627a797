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

/** For whom a session runs, and where. */
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

/** The source of content that somebody else may have written. */
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
  /** The approved arguments, if the grant is only for exactly these. */
  args?: unknown;
  /** A digest of the tool. The grant ends when the tool changes. */
  tool: string;
  /**
   * The reach of the approved call. The grant ends when the reach or the settings of the tool
   * change.
   */
  capabilities: ResolvedGrant;
  settings?: unknown;
  /**
   * The sources of untrusted content that were known when the call was asked about. When there is a
   * new one, the question is asked again. If there are more than 50, the last entry stands for all
   * others.
   */
  sources: UntrustedSource[];
  personalityId: string;
  /** The user for whom the session ran. */
  userScopeId?: string;
  teamId?: string;
  /** Milliseconds since the epoch. */
  grantedAt: number;
  /** Who granted it, as the host says. */
  by?: string;
}

/** A decision on a waiting call. */
export interface CallDecision {
  approved: boolean;
  /** The model gets to read it. */
  reason?: string;
  /**
   * Arguments that run instead of the proposed ones. They are validated and checked like those of
   * the model.
   */
  args?: unknown;
  /** Also approves later calls, if the personality allows it. */
  always?: GrantScope;
  /** Who decides, for the record. */
  by?: string;
}

/** A call that waits for a decision, as it is stored. */
export interface PendingApproval {
  toolCallId: string;
  /**
   * A digest of everything that is asked: the call, its reach, the reason, and the tool at that
   * time.
   */
  question: string;
  toolName: string;
  /** The arguments that would run: `input` after the tool's schema, or after an edit. */
  args: unknown;
  /** The arguments as the model issued them. */
  input: unknown;
  /**
   * A digest of the tool: an approval of later calls is for this tool. Absent if the tool no longer
   * exists.
   */
  tool?: string;
  /** The personality under which it was asked. */
  personalityId?: string;
  capabilities: ResolvedGrant;
  reason: string;
  /** What the personality sets for the tool. */
  settings?: unknown;
  /** Milliseconds since the epoch. */
  askedAt: number;
  /**
   * The turn of an agent that waits for the call, and continues with `AgentLoop.resume`. Absent for
   * a call that was made in the session.
   */
  turn?: number;
  /** Present once somebody has decided. */
  decision?: CallDecision;
  /**
   * Why the call could not run now, whatever is decided: the tool no longer exists, or the
   * personality no longer has it. The call still waits. Refuse it, or `withdraw` it.
   */
  cannotRun?: string;
}

/**
 * A call that began with an approval, and whose end is not recorded. It still runs, here or in
 * another process, or its process ended, and it may have run.
 */
export interface UnfinishedCall extends PendingApproval {
  /** Milliseconds since the epoch. */
  begunAt: number;
}

/** The answer to a call of a session. */
export interface SessionResult extends ToolCallResult {
  /**
   * What the model reads: the value, or the code and the error. It is marked if somebody else may
   * have written it, and so is `result`. A last line says which images were made smaller or left
   * out.
   */
  text: string;
  /** In a form that the session's model accepts. */
  images: ResultImage[];
  /** How many milliseconds the tool ran; 0 if it did not run. */
  durationMs: number;
  /**
   * The call did not run, and waits for this decision. Call `decide`, then `resume`, or make the
   * same call again.
   */
  approval?: PendingApproval;
}

/** The options of one batch of a session. */
export interface SessionBatchOptions {
  abortSignal?: AbortSignal;
  attachments?: readonly TurnAttachment[];
  /** Characters for the results of the whole batch. 80,000 when absent. */
  resultBudgetChars?: number;
  /** The number of the turn, from 1. Tools and reducers see it. */
  currentTurn?: number;
  messageCount?: number;
  dryRun?: boolean;
  /** The names of the tools that the batch may use, out of those of the personality. */
  tools?: readonly string[];
  /** Progress for the audiences `user` and `dashboard`. */
  onProgress?: (event: ToolProgressEvent, toolCallId: string) => void;
  /** Called for each result as soon as it is there, before it is marked. */
  onResult?: (result: ToolCallResult) => void;
}

/**
 * What a session may use up. Beyond a limit its calls are refused. All calls of the session count,
 * whichever object or agent made them. Other processes only know of calls that were made with a
 * limit of calls or of cost.
 */
export interface SessionLimits {
  /** Calls. No limit when absent. */
  maxCalls?: number;
  /** US dollars, according to the tools. No limit when absent. */
  maxCostUsd?: number;
  /** Characters for the results of one batch of calls. 80,000. */
  resultBudgetChars?: number;
}

/** A request to a model that reads untrusted content and has no tools. */
export interface QuarantinePrompt {
  system: string;
  /** The question, the schema, and the content, marked. */
  text: string;
  images: readonly ResultImage[];
  /** The schema of the answer, for models that can follow one. */
  schema: Record<string, unknown>;
  signal: AbortSignal;
}

/** Asks a model, which must have no tools. Returns JSON, as text or parsed. */
export type QuarantineModel = (prompt: QuarantinePrompt) => unknown;

/** Calls, and a question that is answered from their results. */
export interface QuarantineRequest {
  calls: readonly ToolCall[];
  question: string;
  /** A closed schema: no value of it holds free text. See `compileClosedSchema`. */
  schema: Record<string, unknown>;
  read: QuarantineModel;
}

/** A value of the schema, or why there is none. The reason never contains words of the content. */
export type QuarantineAnswer =
  | { ok: true; value: ClosedValue }
  | {
      ok: false;
      code: ToolErrorCode;
      error: string;
      cause: FailureCause;
      /** The calls that wait for a decision. Call `decide`, then ask again with the same ids. */
      approvals?: PendingApproval[];
    };

/** What would happen to a call. Nothing runs. */
export type CallCheck =
  | { kind: 'runs' }
  /** It is recorded, and waits for `decide`. */
  | { kind: 'asks'; approval: PendingApproval }
  | { kind: 'refused'; result: SessionResult };

/**
 * The tools of a runtime in one conversation, whoever runs it. It knows which content was read that
 * somebody else may have written. From then on, it asks before calls with effects. It marks what
 * the model reads, and keeps what waits for a decision. All of that is stored, so another process
 * with the same home can continue.
 */
export interface ToolSession {
  readonly id: string;
  readonly personalityId: string;
  /**
   * The tools that the model is offered. The caller may change its copy. @throws `CONFIG_INVALID`
   */
  definitions(): Promise<ToolDefinition[]>;
  /**
   * Runs a batch of calls. Results are in the order of the calls; nothing throws. A call with the id
   * and the arguments of one that was approved runs once. What is not a list gets one
   * `input_invalid`.
   */
  execute(calls: readonly ToolCall[], options?: SessionBatchOptions): Promise<SessionResult[]>;
  /**
   * Records a call that the caller has refused itself, e.g. of a tool that a framework does not
   * know. It goes through no gate, and nothing runs. Never throws.
   *
   * @param why `input_invalid` for arguments that are not JSON
   * @returns the answer for the model
   */
  refuse(
    call: ToolCall,
    why: { code: 'not_available' | 'input_invalid'; error: string },
  ): Promise<SessionResult>;
  /**
   * Takes a call through its gates without running it, for frameworks that ask themselves. If it
   * must be approved, it is then pending.
   */
  check(call: ToolCall): Promise<CallCheck>;
  /**
   * The calls that wait, including those of an agent's turns: undecided ones, and decided ones that
   * have not run.
   */
  pending(): Promise<PendingApproval[]>;
  /**
   * The calls that began with an approval that had waited, and whose end is not recorded: they still
   * run, or their process ended, and they may have run. They are not run again. Look what they did,
   * then `withdraw` them. Those of an agent's turn are not here: its loop tells the model.
   */
  unfinished(): Promise<UnfinishedCall[]>;
  /**
   * Decides on a waiting call, from any process.
   *
   * @param approval as a result, `check` or `pending` showed it
   * @throws `APPROVAL_INVALID` when no such call waits, it asks for something else now, or the
   * personality forbids such a grant; `ALREADY_DECIDED` for another decision than the one that
   * was made; `INPUT_INVALID` for arguments that the tool does not take, `PATH_NOT_REACHABLE` and
   * others for what it may not reach
   */
  decide(
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void>;
  /**
   * Withdraws a waiting call, decided or not: it does not run. Only the model of an agent's turn
   * that waits for it is told. An unfinished call is only removed from the list of `unfinished`: it
   * is not stopped. Returns whether the call was there.
   */
  withdraw(approval: Pick<PendingApproval, 'toolCallId' | 'question'>): Promise<boolean>;
  /**
   * Runs the approved calls and answers the refused ones, in the order in which they were asked
   * about. Calls of an agent's turn are left to its loop.
   */
  resume(options?: SessionBatchOptions): Promise<SessionResult[]>;
  /**
   * Runs calls, lets a model without tools read their results, and returns its answer as a value of
   * a closed schema. Nobody else gets the results, so the session has not read them. The calls pass
   * the gates of this session, as with `execute`. Never throws.
   */
  readQuarantined(
    request: QuarantineRequest,
    options?: Pick<SessionBatchOptions, 'abortSignal' | 'resultBudgetChars' | 'tools'>,
  ): Promise<QuarantineAnswer>;
  /**
   * The untrusted content that the session has read, the oldest first. After 50 sources, one entry
   * stands for all others.
   */
  sources(): Promise<UntrustedSource[]>;
  /**
   * Records that untrusted content came in another way, e.g. with the user's message.
   *
   * @throws `INPUT_INVALID` for what does not say where it came from and who read it
   */
  addSource(source: UntrustedSource): Promise<void>;
  /** The grants that apply in this session. */
  grants(): Promise<SessionGrant[]>;
  /** Ends a grant. Returns whether it existed. */
  revoke(grantId: string): Promise<boolean>;
  /** Ends what tools left running, and waits for its end. What is stored stays. */
  end(): Promise<void>;
}
