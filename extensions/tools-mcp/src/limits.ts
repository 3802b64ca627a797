/** Limits on what servers may use. */
export interface McpLimits {
  /** How many milliseconds a call may take when mcp.json sets no time. Default: 120,000. */
  callTimeoutMs: number;
  /**
   * How many milliseconds a server has to answer `initialize` and to list its tools. Default:
   * 60,000.
   */
  connectTimeoutMs: number;
  /**
   * After how many milliseconds without a call a connection is closed. It is opened again when
   * needed. Default: 1,800,000.
   */
  idleMs: number;
  /**
   * How many milliseconds to wait before a server is started again. The time doubles with each
   * start. For a server that is held back, it is ten times as long. Default: 1,000.
   */
  restartDelayMs: number;
  /** The longest wait between two starts, in milliseconds. Default: 60,000. */
  maxRestartDelayMs: number;
  /**
   * After how many failed starts in a row the server is no longer started by itself, but only by a
   * call or by `start`. Default: 6.
   */
  maxRestarts: number;
  /** How many characters a message may have. Default: 16,000,000. */
  maxMessageChars: number;
  /**
   * How many messages a second are read over a longer time. A faster server is read slower.
   * Default: 200.
   */
  messagesPerSecond: number;
  /**
   * How many connections are open at the same time. For one more, the one that is unused for
   * longest is closed. Default: 64.
   */
  maxConnections: number;
  /** How many tools of a server are used. Default: 256. */
  maxTools: number;
  /** How many entries a list of resources or prompts may have. Default: 1,000. */
  maxListed: number;
}

export const DEFAULT_LIMITS: McpLimits = {
  callTimeoutMs: 120_000,
  connectTimeoutMs: 60_000,
  idleMs: 1_800_000,
  restartDelayMs: 1_000,
  maxRestartDelayMs: 60_000,
  maxRestarts: 6,
  maxMessageChars: 16_000_000,
  messagesPerSecond: 200,
  maxConnections: 64,
  maxTools: 256,
  maxListed: 1_000,
};

/** How deep a message may be nested. */
export const MAX_MESSAGE_DEPTH = 100;
/**
 * How many characters a message may have that is no answer: a notification or request of a server.
 * A longer one is dropped.
 */
export const MAX_UNASKED_CHARS = 64_000;
/** How many characters of such messages are read in a second over a longer time, and at once. */
export const UNASKED_CHARS_PER_SECOND = 100_000;
export const UNASKED_CHARS_AT_ONCE = 500_000;
/** How many pages of a list are read. */
export const MAX_PAGES = 100;
/** How many characters the mark of a next page may have. A list with a longer one ends there. */
export const MAX_CURSOR_CHARS = 10_000;
