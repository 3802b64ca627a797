import type { ReadSource, SourceTrust } from '@ethosagent/policy';
import type {
  AnyTool,
  AuditApproval,
  DelegationCaller,
  DelegationProvider,
  FailureCause,
  ToolCall,
  ToolCallResult,
  ToolProgressEvent,
  ToolResult,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';
import type { SecretRedactor } from './results/redact.js';

/**
 * What the owner of a turn can decide about the calls of one batch. It is the last argument of
 * `executeParallel`, and `host` of a runtime's `execute`.
 */
export interface TurnHost {
  /**
   * The host's own answer, e.g. to a call of an unknown tool. Such a call goes through no gate and
   * does not run. The audit records it like any other.
   */
  answers?: (
    call: Pick<ToolCall, 'toolCallId' | 'name'>,
  ) => { result: ToolResult; approval?: AuditApproval } | undefined;
  /** Decides, instead of the `approve` of the backends. */
  approve?: (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
  /**
   * Whether a call must be approved in addition to what its tool says: `ask` with the reason, or
   * `refuse` with the text for the model. If it throws, the call is refused.
   *
   * @param call with the tool that will run, even if another one has its name now
   */
  gate?: (call: { toolCallId: string; name: string; tool: AnyTool }) => TurnGate | undefined;
  /**
   * The session has read untrusted content before this batch, so what the calls keep in key-value
   * stores is marked. If absent, it counts whether a tool of the session has returned such content,
   * as far as the registry knows.
   */
  isTainted?: boolean;
  /** Receives where the text of a call comes from. If present, `onResult` gets `reads`. */
  watchSources?: (call: { name: string; tool: AnyTool }) => SourceWatch;
  /**
   * Called before each access of a call, and not awaited. If it throws, the access is refused:
   * another process may hold the session.
   */
  assertOwned?: () => void;
  /**
   * Called right before a tool runs, after its approval, and awaited. If it throws, the tool does
   * not run.
   */
  beforeRun?: (call: ToolCall) => void | Promise<void>;
  /** Called with progress and its call, in addition to `emit` of the batch. */
  onProgress?: (event: ToolProgressEvent, toolCallId: string) => void;
  /**
   * Called for each result as soon as it is there. Without facts, the call did not reach a
   * registry.
   */
  onResult?: (result: ToolCallResult, facts?: CallFacts) => void;
  /**
   * If present, calls go through the gates and stop before they run. Called for each call that
   * would run.
   */
  checksOnly?: (call: ToolCall) => void;
  /** Somebody decides on other arguments, so the places that these name are checked beforehand. */
  judgesPlaces?: boolean;
  /** Runs the sub-agents of tools that declare `delegation`. */
  delegation?: DelegationProvider;
  /**
   * Runs the calls of tools that declare `calls`. Called once for each call of such a tool. If
   * absent, its accessor is absent too.
   */
  calls?: (caller: CallingCall) => CallOfTool;
  /**
   * When the session began, in milliseconds since the epoch. It tells the idempotent calls of this
   * session from those of an earlier one of its id.
   */
  sessionStartedAt?: number | undefined;
  /** The secrets of the call that makes these calls. Its arguments may hold them. */
  secrets?: SecretRedactor;
  /** The call of a tool that makes these calls; absent if a model makes them. For the record. */
  parentCallId?: string;
  /**
   * The session whose quotas the calls use up; their own if absent. All sub-agents together get no
   * more than the agent that they work for.
   */
  quotaSession?: string;
}

/** A call that may call tools itself. */
export interface CallingCall {
  toolCallId: string;
  toolName: string;
}

/** The result of a call that a tool made. */
export interface CalledResult {
  result: ToolResult;
  /** The session has read untrusted content with it, and so has the tool that made the call. */
  isUntrusted: boolean;
}

/** Runs a call for one caller. Never rejects. */
export type CallOfTool = (
  call: {
    name: string;
    args: unknown;
    /** Whether the caller has read untrusted text in its stores. */
    hasReadStored?: boolean;
    /** The secrets that the caller has resolved. */
    secrets?: SecretRedactor | undefined;
  },
  signal: AbortSignal,
) => Promise<CalledResult>;

/** A call that delegates, as the loop of its agent knows it. */
export interface DelegatingCall extends DelegationCaller {
  /** The secrets that it has resolved. */
  secrets?: SecretRedactor;
}

/** Uses where the text of calls comes from. */
export interface SourceWatch {
  trust: SourceTrust;
  /** Whether the results of the tool are trusted, whatever it read. */
  trustsTool: boolean;
  /**
   * Whether one of the files among the sources is recorded as written, contains such a file, or
   * lies within such a folder.
   */
  isWritten(sources: readonly ReadSource[]): Promise<boolean>;
  /**
   * Called before a call that works with untrusted text changes files or folders, and awaited. If
   * it throws, nothing is changed.
   */
  beforeWrite(paths: readonly string[]): Promise<void>;
}

/** What a call read, as far as its accessors saw it. */
export interface CallReads {
  sources: readonly ReadSource[];
  /** Whether nothing else was read: the tool has no other capability with which it could. */
  isWhole: boolean;
}

/** The facts about a call. */
export interface CallFacts {
  /** Whether the tool ran. Otherwise the framework answered. */
  ran: boolean;
  /** How many milliseconds the tool ran. */
  durationMs: number;
  /** What it read, if the host has `watchSources`. */
  reads?: CallReads;
}

/** A turn's decision about a call before it runs. */
export type TurnGate = { ask: string } | { refuse: string; cause?: FailureCause };
