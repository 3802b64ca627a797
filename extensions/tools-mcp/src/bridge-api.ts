import type { HeldTool } from '@ethosagent/policy';
import type { ServiceHost, ToolRegistry } from '@ethosagent/types';
import type { McpElicitation, McpSampling } from './client.js';
import type { McpCompletion, McpCompletionRequest } from './complete.js';
import type { McpConfig } from './config.js';
import type { McpServerState } from './connection.js';
import type { McpLimits } from './limits.js';
import type { McpAuthorize, McpTokenStore } from './oauth.js';
import type { McpPendingChange, McpPinStore } from './pins.js';
import type { McpLog, McpLogEntry } from './server-log.js';
import type { McpServerIdentity } from './server-pin.js';
import type { McpApproval } from './server-tools.js';

/** Options of `createMcpBridge`. */
export interface McpBridgeOptions {
  /** The servers, as `parseMcpConfig` returns them. */
  config: McpConfig;
  /** Opens the services of servers. A registry of `@ethosagent/core` does this. */
  host: ServiceHost;
  /** The registry that gets the tools of the servers. */
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  /** The working directory of servers whose config names none. It is also `${workspaceFolder}`. */
  workingDir?: string;
  /** The values of variables that are not secret: `userHome`, `workspaceFolder`, … */
  variables?: Readonly<Record<string, string>>;
  /** Stores the pins: how each tool of the first list was. When absent, pins end with the process. */
  pins?: McpPinStore;
  /** Stores the tokens of OAuth. OAuth needs this, `redirectUrl` and `onAuthorize`. */
  tokens?: McpTokenStore;
  /** The URL to which the authorization server sends the user back. */
  redirectUrl?: string;
  /** Shows the user where to authorize a server. Pass the answer to `finishAuthorization`. */
  onAuthorize?: McpAuthorize;
  /** Asks a model on behalf of a server. When absent, such requests of servers are refused. */
  onSampling?: McpSampling;
  /** Asks the user on behalf of a server. When absent, such requests of servers are refused. */
  onElicitation?: McpElicitation;
  /** Called with each log entry of a server. When absent, the logs of servers are not read. */
  onLog?: McpLog;
  /** The lowest level that servers are asked to log. `info` when absent. */
  logLevel?: McpLogEntry['level'];
  /** Returns whether a call needs approval. The personality may require it, too. */
  requiresApproval?: McpApproval;
  /** Called after each change of a server's state or of its tools. */
  onStatus?: (status: McpServerStatus) => void;
  limits?: Partial<McpLimits>;
}

/** The state of a server for a personality. */
export interface McpServerStatus {
  server: string;
  personality: string | undefined;
  state: McpServerState;
  /** Why the server is not ready. */
  reason?: string;
  /** What the sandbox has refused to the ready server, and how to allow it. */
  refused?: string;
  /** The names of its tools in the registry. */
  tools: string[];
  /** The tools that the server lists but that are not in the registry, and why. */
  held: HeldTool[];
}

/** Puts the tools of MCP servers into a registry, and calls them. */
export interface McpBridge {
  /** What the bridge ignores in the config, or reads in another way than it may be meant. */
  readonly notes: readonly string[];
  /**
   * Connects servers for a personality, and registers their tools. It does not throw for a server
   * that can't be connected: the status of that server has the reason.
   *
   * Without `waitMs`, it tries all servers now, even those that wait or are held back. With
   * `waitMs`, it is cheap, so it can run before each batch. It then tries only servers that were
   * not tried yet, and servers that have been held back for long enough. It does not try servers
   * that wait for the user to authorize them. Parallel starts share the connections that they wait
   * for.
   *
   * @param personality the id of the personality; absent for calls without one
   * @param servers names of servers, e.g. the personality's `mcp_servers`; all servers when absent
   * @param options `waitMs`: milliseconds after which it returns; the other servers go on
   *   connecting
   * @returns the status of each of these servers
   */
  start(
    personality?: string,
    servers?: readonly string[],
    options?: { waitMs?: number },
  ): Promise<McpServerStatus[]>;
  /**
   * Ends the servers of a personality.
   *
   * @param personality the id of the personality; absent for calls without one
   */
  stop(personality?: string): Promise<void>;
  /** Returns the state of each server for each personality. */
  status(): McpServerStatus[];
  /**
   * Returns the tools and servers that changed since they were pinned, and the tools that were
   * added since, and that are not accepted yet.
   */
  pending(): McpPendingChange[];
  /**
   * Accepts changed and added tools: pins them as they are now.
   *
   * @param server the name of the server
   * @param tool the tool, by the server's own name for it; all tools of the server when absent
   * @param hash accepts a change only if it still has this hash from `pending`
   * @returns the tools that were accepted
   */
  accept(server: string, tool?: string, hash?: string): Promise<string[]>;
  /**
   * Finishes an authorization that `onAuthorize` began, and connects the server.
   *
   * @param server the name of the server
   * @param personality the id of the personality that the server is authorized for
   * @param code the code from the authorization server
   * @param state the state that came back with the code
   * @returns the status of the server
   * @throws `CONFIG_INVALID` when the server is unknown, when no authorization waits, or when the
   *   state is missing or does not match; `NETWORK_FAILED` when the authorization server gives no
   *   tokens
   */
  finishAuthorization(
    server: string,
    personality: string | undefined,
    code: string,
    state?: string,
  ): Promise<McpServerStatus>;
  /** Returns how each server is reached, whether it was started or not. */
  identities(): Promise<McpServerIdentity[]>;
  /**
   * Says why a name is not in the registry, in words that a model may read. `status()` has all
   * details.
   *
   * @param name a name of the form `mcp__<server>__<tool>`
   * @param personality the id of the personality; absent for calls without one
   * @returns the reason; `undefined` when the server was not started for the personality, or has no
   *   such tool
   */
  whyMissing(name: string, personality?: string): string | undefined;
  /**
   * Finds the server and the tool of a name in the registry.
   *
   * @param name the name in the registry
   * @returns the names in the config and on the server; `undefined` for any other name
   */
  origin(name: string): { server: string; tool: string } | undefined;
  /**
   * Asks a server for values that complete an argument of a prompt, or a variable of a resource
   * template.
   *
   * @param server the name of the server
   * @param request the argument or the variable, and the text so far
   * @param personality the id of the personality; absent for calls without one
   * @returns the values that the server proposes
   * @throws `TOOL_UNAVAILABLE` when the server is not available or has no completion, or when the
   *   request is aborted
   */
  complete(
    server: string,
    request: McpCompletionRequest,
    personality?: string,
  ): Promise<McpCompletion>;
  /** Ends all servers and unregisters their tools. All later calls fail. */
  close(): Promise<void>;
}
