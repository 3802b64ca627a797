/** The limits of clients over HTTP. */
export interface McpHttpLimits {
  /** The most sessions of all clients at once. 200 when absent. */
  maxSessions: number;
  /**
   * The most sessions of one client at once. 20 when absent. If this limit or `maxSessions` is
   * reached, a new session ends the client's session that has been without a connection for
   * longest. If all of the client's sessions are connected, the new one is refused.
   */
  maxSessionsPerClient: number;
  /** The most bytes of one request. 4,000,000 when absent. */
  maxRequestBytes: number;
  /** A session without a connection ends after this many milliseconds. 1,800,000 when absent. */
  idleMs: number;
  /**
   * A session whose client has opened a stream, and has no connection now, ends after this many
   * milliseconds. 60,000 when absent.
   */
  reconnectMs: number;
}

export const DEFAULT_HTTP_LIMITS: McpHttpLimits = {
  maxSessions: 200,
  maxSessionsPerClient: 20,
  maxRequestBytes: 4_000_000,
  idleMs: 1_800_000,
  reconnectMs: 60_000,
};
