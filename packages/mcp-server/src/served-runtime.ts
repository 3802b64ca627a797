import type {
  AskHost,
  PendingApproval,
  SessionIdentity,
  SessionLimits,
  ToolSession,
} from '@ethosagent/core';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';

/** The settings of a client's session. */
export interface McpSessionSettings {
  /** The personality. When absent, the active one of the runtime. */
  personality?: string;
  /** The user, agent and team that the session runs for. */
  identity?: SessionIdentity;
  limits?: SessionLimits;
}

/**
 * The runtime that is served: a `ToolRuntime` of `@ethosagent/wiring`, or another object with its
 * sessions.
 */
export interface ServedRuntime {
  /** Opens a session of the runtime. */
  session(id: string, options?: McpSessionSettings & { approve?: AskHost }): ToolSession;
  /** Returns a tool by its name. Clients are told its effects. */
  tool(name: string): AnyTool | undefined;
  /** Returns the personality as it is now. It says which grants a user may give. */
  personality(id?: string): Promise<PersonalityConfig>;
}

/** A call that waits for a decision, because the client did not decide. */
export interface McpWaitingCall {
  /** The name of the client that made the call. */
  client: string;
  /**
   * The id of the session in which the call waits. Decide with `runtime.session(sessionId).decide`.
   */
  sessionId: string;
  approval: PendingApproval;
}

/** The options of servers over stdio and HTTP. */
export interface McpServeOptions {
  /** The name of the server for clients. `ethosagent` when absent. */
  name?: string;
  version?: string;
  /** A text for clients about how to use the tools. */
  instructions?: string;
  /**
   * Who is asked about a call that needs approval. If there is no answer, the call waits in its
   * session for `decide`.
   *
   * - `client`, the default: the user of the client, if the client can show forms. `approve` of the
   *   runtime is not called.
   * - `session`: `approve` of the runtime.
   */
  approvals?: 'client' | 'session';
  /** The milliseconds that the user of a client has for an answer. 600,000 when absent. */
  approvalTimeoutMs?: number;
  /** The milliseconds between two checks whether the tools have changed. 5,000 when absent. */
  toolsCheckMs?: number;
  /** The most calls of one session at once. Further calls are refused. 64 when absent. */
  maxCallsAtOnce?: number;
  /** Called for each call that waits. What it throws is ignored. */
  onWaiting?: (waiting: McpWaitingCall) => void;
}
