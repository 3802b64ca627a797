import type { ServiceHost, ServiceScope } from '@ethosagent/types';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { McpElicitation, McpSampling } from './client.js';
import type { McpServerConfig } from './config.js';
import type { McpLimits } from './limits.js';
import type { McpAuthorize, McpTokenStore } from './oauth.js';
import type { RedactedTransport } from './redacted-transport.js';
import type { McpLog, McpLogEntry } from './server-log.js';

/** What is needed to connect servers. */
export interface ConnectOptions {
  /**
   * Returns why a server must not be reached with its current configuration, before it gets
   * anything.
   */
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
  /** Returns why the session ended, with the last words of the server. */
  why(): string;
  /**
   * Returns what the sandbox of the server has refused, and how to allow it; empty when nothing is
   * known.
   *
   * @param isStarted whether the server answered once, so that the program itself exists
   */
  refused(isStarted: boolean): string;
  /** Removes the secrets that the server got from a text that may be its own. */
  redact(text: string): string;
  /** Whether the server opened a session, which it may forget. */
  hasSession(): boolean;
  close(): Promise<void>;
}

/** A session, or why there is none. */
export type ConnectResult = { ok: true; session: ServerSession } | ({ ok: false } & ConnectFailure);

/** Why there is no session. */
export interface ConnectFailure {
  reason: string;
  /** Whether a later start may work although nobody did anything. */
  again: boolean;
  /**
   * Whether the user was asked to authorize the server. A new question would make the first one
   * invalid.
   */
  authorize?: boolean;
  /** The error, for the host. */
  error?: unknown;
}

/** A way to talk to a server. */
export interface Wire
  extends Pick<ServerSession, 'why' | 'refused' | 'redact' | 'hasSession' | 'close'> {
  transport: RedactedTransport;
  /** Returns the refusal of a request, when a library replaced it by an error of its own. */
  denied(): unknown;
}

/** Returns the folders that a server is told as roots. */
export function rootsOf({ reach }: ServiceScope): string[] {
  return [...new Set([...(reach?.read ?? []), ...(reach?.write ?? [])])];
}
