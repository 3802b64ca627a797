/** What clients over HTTP may use up. */
export interface McpHttpLimits {
  /** Sessions of all clients at once. 200. */
  maxSessions: number;
  /**
   * Sessions of one client at once. 20. For one more, the one that has been without a connection
   * for longest ends; where all have one, it is refused.
   */
  maxSessionsPerClient: number;
  /** Bytes of one request. 4,000,000. */
  maxRequestBytes: number;
  /** Milliseconds after which a session without a connection ends. 1,800,000. */
  idleMs: number;
  /** The same for one whose client had an open stream, and lost it. 60,000. */
  reconnectMs: number;
}

export const DEFAULT_HTTP_LIMITS: McpHttpLimits = {
  maxSessions: 200,
  maxSessionsPerClient: 20,
  maxRequestBytes: 4_000_000,
  idleMs: 1_800_000,
  reconnectMs: 60_000,
};
