import type {
  AskHost,
  PendingApproval,
  SessionIdentity,
  SessionLimits,
  ToolSession,
} from '@ethosagent/core';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';

/** How the session of a client runs. */
export interface McpSessionSettings {
  /** The personality; the active one of the runtime when absent. */
  personality?: string;
  /** For whom it runs. */
  identity?: SessionIdentity;
  limits?: SessionLimits;
}

/** What is served: a `ToolRuntime` of `@ethosagent/wiring`, or what has its sessions. */
export interface ServedRuntime {
  /** A session of the runtime. */
  session(id: string, options?: McpSessionSettings & { approve?: AskHost }): ToolSession;
  /** A tool by its name, for what clients are told of its effects. */
  tool(name: string): AnyTool | undefined;
  /** The personality as it is now, for the grants that it lets somebody give. */
  personality(id?: string): Promise<PersonalityConfig>;
}

/** A call that waits for a decision which its client can not make. */
export interface McpWaitingCall {
  /** Who called. */
  client: string;
  /** The session that takes the decision: `runtime.session(sessionId).decide`. */
  sessionId: string;
  approval: PendingApproval;
}

/** What servers over stdio and HTTP have in common. */
export interface McpServeOptions {
  /** What clients are told that the server is. `ethosagent` when absent. */
  name?: string;
  version?: string;
  /** What clients are told of how to use the tools. */
  instructions?: string;
  /**
   * Who decides on calls that need approval. `client`, the default: the user of a client that can
   * ask, and else whoever decides in the session; the `approve` of the runtime is not asked.
   * `session`: the `approve` of the runtime while the call waits, and else whoever decides in the
   * session.
   */
  approvals?: 'client' | 'session';
  /** Milliseconds that the user of a client has for an answer. 600,000. */
  approvalTimeoutMs?: number;
  /** Milliseconds between two looks whether the tools have changed. 5,000. */
  toolsCheckMs?: number;
  /** Calls of one session at once; more of them are refused. 64. */
  maxCallsAtOnce?: number;
  /** Told of each call that waits. What it throws is ignored. */
  onWaiting?: (waiting: McpWaitingCall) => void;
}
