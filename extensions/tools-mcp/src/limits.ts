/** Bounds of what servers may use up. */
export interface McpLimits {
  /** Milliseconds for a call, where mcp.json sets no other. 120,000. */
  callTimeoutMs: number;
  /** Milliseconds until a server has answered `initialize` and listed its tools. 60,000. */
  connectTimeoutMs: number;
  /** Milliseconds without a call after which a connection is closed; it is opened again when needed. 1,800,000. */
  idleMs: number;
  /** Milliseconds before a server is started again, doubled each time; ten times as long for one that is held back. 1,000. */
  restartDelayMs: number;
  /** Milliseconds between two starts at most. 60,000. */
  maxRestartDelayMs: number;
  /** Starts in a row that failed, after which only a call or a start of the bridge starts the server. 6. */
  maxRestarts: number;
  /** Characters of one message. 16,000,000. */
  maxMessageChars: number;
  /** Messages a second, over a longer time; a server that sends more is read slower. 200. */
  messagesPerSecond: number;
  /** Connections that are open at once; for one more, the one that is unused for longest is closed. 64. */
  maxConnections: number;
  /** Tools of one server. 256. */
  maxTools: number;
  /** Entries of one list of resources or prompts. 1,000. */
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

/** Levels of a message. */
export const MAX_MESSAGE_DEPTH = 100;
/** Pages of one list. */
export const MAX_PAGES = 100;
