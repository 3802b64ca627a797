import { callListener, cleanLine, cleanText } from '@ethosagent/policy';
import type { LoggingMessageNotification } from '@modelcontextprotocol/sdk/types.js';
import { TokenBucket } from './token-bucket.js';

/** What a server logs. All of it is the server's word. */
export interface McpLogEntry {
  server: string;
  personality: string | undefined;
  level: LoggingMessageNotification['params']['level'];
  /** What the server calls the part of it that logs. */
  logger?: string;
  text: string;
  /** Entries before this one that were left out, since there were too many. */
  dropped?: number;
}

/**
 * Told what a server logs: 2,000 characters an entry, 20 entries a second after the first 200, without
 * the secrets of the server.
 */
export type McpLog = (entry: McpLogEntry) => void;

const PER_SECOND = 20;
const BURST = 200;
const MAX_TEXT_CHARS = 2_000;

/** Passes on what a server logs, short and not too often. */
export function logReader(
  onLog: McpLog,
  from: Pick<McpLogEntry, 'server' | 'personality'>,
  { redact, now }: { redact: (text: string) => string; now?: () => number },
): (notification: LoggingMessageNotification) => void {
  const bucket = new TokenBucket(PER_SECOND, BURST, now);
  let dropped = 0;
  return ({ params: { level, logger, data } }) => {
    if (!bucket.tryTake(1)) {
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
