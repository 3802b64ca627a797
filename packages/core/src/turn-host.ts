import type { ReadSource, SourceTrust } from '@ethosagent/policy';
import type {
  AnyTool,
  AuditApproval,
  DelegationProvider,
  FailureCause,
  ToolCall,
  ToolCallResult,
  ToolProgressEvent,
  ToolResult,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';

/**
 * What whoever runs a turn has a say in, for the calls of one batch: the last argument of
 * `executeParallel`, and `host` of a runtime's `execute`.
 */
export interface TurnHost {
  /**
   * What the host answers itself, e.g. to a call of a tool that there is not. Such a call goes through
   * no gate and does not run; it is in the audit, as any other.
   */
  answers?: (
    call: Pick<ToolCall, 'toolCallId' | 'name'>,
  ) => { result: ToolResult; approval?: AuditApproval } | undefined;
  /** Decides instead of the `approve` of the backends. */
  approve?: (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
  /**
   * Whether a call must be approved beside what its tool says: `ask` with the reason, or `refuse`
   * with what the model is told. One that throws refuses the call.
   *
   * @param call with the tool that will run, whatever has its name by then
   */
  gate?: (call: { toolCallId: string; name: string; tool: AnyTool }) => TurnGate | undefined;
  /**
   * The session has read untrusted content before this batch: what the calls keep in key-value stores
   * is marked as such. Absent: whether a tool of the session has returned any, as far as the registry
   * knows.
   */
  isTainted?: boolean;
  /** Wants to know where the text of a call comes from and, in `onResult`, gets `reads`. */
  watchSources?: (call: { name: string; tool: AnyTool }) => SourceWatch;
  /**
   * Asked before each access of a call, at once. What it throws refuses the access: somebody else
   * may hold the session, and runs the turn.
   */
  assertOwned?: () => void;
  /**
   * Called right before a tool runs, after its approval, and waited for. What it throws keeps the
   * tool from running.
   */
  beforeRun?: (call: ToolCall) => void | Promise<void>;
  /** Told of progress beside `emit` of the batch, and of the call that it comes from. */
  onProgress?: (event: ToolProgressEvent, toolCallId: string) => void;
  /** Told of each result as soon as it is there. Without facts, no registry had the call. */
  onResult?: (result: ToolCallResult, facts?: CallFacts) => void;
  /** The calls go through the gates and stop before they run. Told of each that would run. */
  checksOnly?: (call: ToolCall) => void;
  /** Somebody decides on other arguments: the places that they name are judged beforehand. */
  judgesPlaces?: boolean;
  /** Runs the sub-agents of tools that declare `delegation`. */
  delegation?: DelegationProvider;
  /**
   * Runs the calls of tools that declare `calls`; asked once for each call of such a tool. Absent:
   * its accessor is absent, too.
   */
  calls?: (caller: CallingCall) => CallOfTool;
  /** The calls come from this call of a tool, and not from a model. For the record. */
  parentCallId?: string;
  /**
   * The session whose quotas the calls use up; their own when absent. Sub-agents together get no
   * more than the agent that they work for.
   */
  quotaSession?: string;
}

/** A call that may call tools itself. */
export interface CallingCall {
  toolCallId: string;
  toolName: string;
}

/** What a call that a tool made comes back with. */
export interface CalledResult {
  result: ToolResult;
  /** The session has read untrusted content with it: so has the tool that made the call. */
  isUntrusted: boolean;
}

/** Runs a call for one caller. Never rejects. */
export type CallOfTool = (
  call: { name: string; args: unknown },
  signal: AbortSignal,
) => Promise<CalledResult>;

/** Who goes by where text comes from. */
export interface SourceWatch {
  trust: SourceTrust;
  /** Whether the results of the tool are trusted whatever it read. */
  trustsTool: boolean;
  /** Whether files among the sources are, hold or are within what is noted as written. */
  isWritten(sources: readonly ReadSource[]): Promise<boolean>;
  /**
   * Called before a call that works with text which nobody trusts changes files or folders, and
   * waited for. What it throws keeps them from being changed.
   */
  beforeWrite(paths: readonly string[]): Promise<void>;
}

/** What a call read, as far as its accessors saw it. */
export interface CallReads {
  sources: readonly ReadSource[];
  /** Nothing else was read: the tool has no capability by which it could. */
  isWhole: boolean;
}

/** How a call went. */
export interface CallFacts {
  /** The tool ran. Otherwise the framework answered. */
  ran: boolean;
  /** Milliseconds from the begin of the tool to its end. */
  durationMs: number;
  /** What it read, where the host has `watchSources`. */
  reads?: CallReads;
}

/** What a turn says of a call before it runs. */
export type TurnGate = { ask: string } | { refuse: string; cause?: FailureCause };
