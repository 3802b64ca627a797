import type { ServiceHost, ServiceScope } from '@ethosagent/types';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { McpElicitation, McpSampling } from './client.js';
import type { McpServerConfig } from './config.js';
import type { McpLimits } from './limits.js';
import type { McpAuthorize, McpTokenStore } from './oauth.js';
import type { RedactedTransport } from './redacted-transport.js';
import type { McpLog, McpLogEntry } from './server-log.js';

/** What servers are connected with. */
export interface ConnectOptions {
  /** Why a server may not be reached as it is configured now; asked before it gets anything. */
  heldBack(server: McpServerConfig): Promise<string | undefined>;
  host: ServiceHost;
  limits: McpLimits;
  variables: ReadonlyMap<string, string>;
  inputs: ReadonlyMap<string, string>;
  workingDir: string | undefined;
  tokens: McpTokenStore | undefined;
  redirectUrl: string | undefined;
  onAuthorize: McpAuthorize | undefined;
  onSampling: McpSampling | undefined;
  onElicitation: McpElicitation | undefined;
  onLog: McpLog | undefined;
  logLevel: McpLogEntry['level'];
}

/** A server that has answered `initialize`. */
export interface ServerSession {
  client: Client;
  scope: ServiceScope;
  /** Why it ended, and what it said last. */
  why(): string;
  /**
   * What its sandbox has refused to it, and how to allow it; empty where nothing is known.
   * @param isStarted whether it answered once, so that the program itself is there
   */
  refused(isStarted: boolean): string;
  /** Removes the secrets that the server was given from a text that may be its own. */
  redact(text: string): string;
  /** Whether the server gave a session, which it may forget. */
  hasSession(): boolean;
  close(): Promise<void>;
}

/** A session, or why there is none; `again` when a later start may work without anyone's doing. */
export type ConnectResult = { ok: true; session: ServerSession } | ({ ok: false } & ConnectFailure);

/** Why there is no session. */
export interface ConnectFailure {
  reason: string;
  again: boolean;
  /** The user was asked to authorize the server. To ask again would void that question. */
  authorize?: boolean;
  /** What was thrown, for the host. */
  error?: unknown;
}

/** A way to talk to a server. */
export interface Wire
  extends Pick<ServerSession, 'why' | 'refused' | 'redact' | 'hasSession' | 'close'> {
  transport: RedactedTransport;
  /** A refusal of a request that a library has reported in its own words. */
  denied(): unknown;
}

/** The folders that a server is told of. */
export function rootsOf({ reach }: ServiceScope): string[] {
  return [...new Set([...(reach?.read ?? []), ...(reach?.write ?? [])])];
}
