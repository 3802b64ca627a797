import type { ResolvedGrant } from '@ethosagent/core';
import type {
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  ToolProgressEvent,
  TurnAttachment,
} from '@ethosagent/types';

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

/** How long a yes holds that is meant for more than one call. */
export type GrantScope =
  /** Calls of this tool, in this session. */
  | 'session'
  /** Calls of this tool with exactly these arguments, in every session of the same owner. */
  | 'arguments'
  /** Calls of this tool, in every session of the same owner. */
  | 'tool';

/** A yes for more than one call. It answers questions, and never lifts a refusal. */
export interface SessionGrant {
  id: string;
  scope: GrantScope;
  toolName: string;
  /** What was approved, where the grant is for exactly these arguments. */
  args?: unknown;
  /** The grant ends where the call could reach something else. */
  capabilities: ResolvedGrant;
  /** The sources of untrusted content that were known: once there is another, it is asked again. */
  sources: UntrustedSource[];
  personalityId: string;
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
   * The arguments that are to run in place of those that were proposed. They are validated and
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
  args: unknown;
  capabilities: ResolvedGrant;
  reason: string;
  /** What the personality sets for the tool. */
  settings?: unknown;
  /** Milliseconds since the epoch. */
  askedAt: number;
  /** Once somebody has decided. */
  decision?: CallDecision;
}

/** An image of a result: `image/png`, `image/jpeg`, `image/gif` or `image/webp`; data in base64. */
export interface ResultImage {
  mediaType: string;
  data: string;
}

/** The answer to a call of a session. */
export interface SessionResult extends ToolCallResult {
  /**
   * What the model reads: the value, or the code and the error. Marked where somebody else may have
   * written it, as `result` is.
   */
  text: string;
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
   * Goes through the gates of a call without running it, for frameworks that ask by themselves.
   * What must be approved is then pending.
   */
  check(call: ToolCall): Promise<CallCheck>;
  /** The calls that wait: those that nobody has decided, and those that were decided and not run. */
  pending(): Promise<PendingApproval[]>;
  /**
   * Decides on a call that waits, from any process.
   *
   * @param approval as a result, `check` or `pending` showed it
   * @throws `APPROVAL_INVALID` when no such call waits, it asks for something else by now, another
   * decision was made already, or the personality forbids such a grant; `INPUT_INVALID` for
   * arguments that the tool does not take, `PATH_NOT_REACHABLE` and others for what it may not reach
   */
  decide(
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void>;
  /** Runs what was approved and answers what was refused, in the order in which it was asked. */
  resume(options?: SessionBatchOptions): Promise<SessionResult[]>;
  /** The untrusted content that the session has read, the first first. */
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
