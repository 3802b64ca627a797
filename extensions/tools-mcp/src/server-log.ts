import { callListener, cleanLine, cleanText } from '@ethosagent/policy';
import type { LoggingMessageNotification } from '@modelcontextprotocol/sdk/types.js';
import { TokenBucket } from './token-bucket.js';

/** A log entry of a server. It is untrusted text of the server. */
export interface McpLogEntry {
  server: string;
  personality: string | undefined;
  level: LoggingMessageNotification['params']['level'];
  /** The server's name for the part of it that logs. */
  logger?: string;
  text: string;
  /** How many entries before this one were left out because there were too many. */
  dropped?: number;
}

/**
 * Receives the log entries of servers, without the secrets of the server. An entry has at most
 * 2,000 characters. One that came with more than 64,000 is left out. After the first 200, at most 20 entries a second come.
 */
export type McpLog = (entry: McpLogEntry) => void;

const PER_SECOND = 20;
const BURST = 200;
const MAX_TEXT_CHARS = 2_000;

/** Returns a function that passes on log entries of a server, shortened and not too often. */
export function logReader(
  onLog: McpLog,
  from: Pick<McpLogEntry, 'server' | 'personality'>,
  { redact, now }: { redact: (text: string) => string; now?: () => number },
): (notification: LoggingMessageNotification) => void {
  const bucket = new TokenBucket(PER_SECOND, BURST, now);
  let dropped = 0;
  return ({ params: { level, logger, data } }) => {
    // The data of an entry that was too long is missing.
    if (data === undefined || !bucket.tryTake(1)) {
      dropped++;
      return;
    }
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const entry: McpLogEntry = {
      ...from,
      level,
      ...(logger !== undefined && { logger: cleanLine(redact(logger), 100) }),
      text: cleanText(redact(text), MAX_TEXT_CHARS),
      ...(dropped > 0 && { dropped }),
    };
    dropped = 0;
    callListener(() => onLog(entry));
  };
}
