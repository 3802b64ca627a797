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

export interface McpBridgeOptions {
  /** What `parseMcpConfig` read. */
  config: McpConfig;
  /** Opens what a server needs: a registry of `@ethosagent/core`. */
  host: ServiceHost;
  /** Where the tools go. */
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  /** The working directory of servers that are told no other; also `${workspaceFolder}`. */
  workingDir?: string;
  /** Values for variables that are no secrets: `userHome`, `workspaceFolder`, … */
  variables?: Readonly<Record<string, string>>;
  /** What tools were at first use. Forgotten with the process when absent. */
  pins?: McpPinStore;
  /** Where tokens of OAuth are kept. Without it, `redirectUrl` and `onAuthorize`, no server is authorized. */
  tokens?: McpTokenStore;
  /** Where the authorization server sends the user back to. */
  redirectUrl?: string;
  /** Shows the user where to authorize a server; `finishAuthorization` gets the answer. */
  onAuthorize?: McpAuthorize;
  /** Asks a model for a server. Servers are refused without it. */
  onSampling?: McpSampling;
  /** Asks the user for a server. Servers are refused without it. */
  onElicitation?: McpElicitation;
  /** Told what servers log. Nothing of it is read without it. */
  onLog?: McpLog;
  /** What servers are asked to log, and what is more. `info`. */
  logLevel?: McpLogEntry['level'];
  /** Whether a call needs approval, beside what the personality says. */
  requiresApproval?: McpApproval;
  /** Told after each change of a server, and of what it offers. */
  onStatus?: (status: McpServerStatus) => void;
  limits?: Partial<McpLimits>;
}

/** How a server stands for a personality. */
export interface McpServerStatus {
  server: string;
  personality: string | undefined;
  state: McpServerState;
  /** Why it is not ready. */
  reason?: string;
  /** What its sandbox has refused to it while it is ready, and how to allow it. */
  refused?: string;
  /** Names in the registry of what it offers. */
  tools: string[];
  /** What it lists and does not get into the registry, and why. */
  held: HeldTool[];
}

/** Puts the tools of MCP servers into a registry, and calls them. */
export interface McpBridge {
  /** What of the file is not read, or read in another way than it may be meant. */
  readonly notes: readonly string[];
  /**
   * Connects servers for a personality, and registers what they offer. A server that can't be
   * connected is in the status, with the reason.
   *
   * Without `waitMs`, all are tried now, also those that wait or are held back. With it, a start is
   * cheap and may come before each batch: it tries those that were not tried yet, and those that
   * have been held back for long enough; servers that wait for the user to authorize them are left
   * alone. Starts at once share what they wait for.
   *
   * @param servers names of servers, e.g. the personality's `mcp_servers`; all of them when absent
   * @param options `waitMs`: milliseconds after which it returns with what is ready; the others
   * connect on
   */
  start(
    personality?: string,
    servers?: readonly string[],
    options?: { waitMs?: number },
  ): Promise<McpServerStatus[]>;
  /** Ends the servers of a personality. */
  stop(personality?: string): Promise<void>;
  /** How each server stands. */
  status(): McpServerStatus[];
  /** Tools that changed since they were pinned, and wait to be accepted. */
  pending(): McpPendingChange[];
  /**
   * Pins tools as they are now.
   *
   * @param tool one tool, as the server calls it; all of the server when absent
   * @param hash only if it is still what `pending` showed
   * @returns the tools that were accepted
   */
  accept(server: string, tool?: string, hash?: string): Promise<string[]>;
  /**
   * Takes the code of an authorization that `onAuthorize` began, and connects the server.
   *
   * @param state as it came back with the code
   * @throws `CONFIG_INVALID` for an unknown server, or where no authorization waits, or the state
   * is missing or another one; `NETWORK_FAILED` where there are no tokens for it
   */
  finishAuthorization(
    server: string,
    personality: string | undefined,
    code: string,
    state?: string,
  ): Promise<McpServerStatus>;
  /** How each server is reached, whether or not it was started. */
  identities(): Promise<McpServerIdentity[]>;
  /**
   * Why a name of the form `mcp__<server>__<tool>` is not in the registry: what a model may read of
   * it. The whole is in `status()`. `undefined` where the server was not started for the personality,
   * or has no such tool.
   */
  whyMissing(name: string, personality?: string): string | undefined;
  /** What a name in the registry stands for. */
  origin(name: string): { server: string; tool: string } | undefined;
  /**
   * Asks a server how an argument of a prompt, or a variable of a template of resources, may go on.
   *
   * @throws `TOOL_UNAVAILABLE` for a server that is not there, or completes nothing
   */
  complete(
    server: string,
    request: McpCompletionRequest,
    personality?: string,
  ): Promise<McpCompletion>;
  /** Ends all servers, and takes their tools out. Calls fail from then on. */
  close(): Promise<void>;
}
