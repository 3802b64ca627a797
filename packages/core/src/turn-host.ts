import type {
  AnyTool,
  DelegationProvider,
  FailureCause,
  ToolCall,
  ToolCallResult,
  ToolProgressEvent,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';

/** What whoever runs a turn has a say in, for the calls of one batch. */
export interface TurnHost {
  /** Decides in place of the `approve` of the backends. */
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
  /** Runs the sub-agents of tools that declare `delegation`. */
  delegation?: DelegationProvider;
  /**
   * The session whose quotas the calls use up; their own when absent. Sub-agents together get no
   * more than the agent that they work for.
   */
  quotaSession?: string;
}

/** How a call went. */
export interface CallFacts {
  /** The tool ran. Otherwise the framework answered. */
  ran: boolean;
  /** Milliseconds from the begin of the tool to its end. */
  durationMs: number;
}

/** What a turn says of a call before it runs. */
export type TurnGate = { ask: string } | { refuse: string; cause?: FailureCause };
