import { AuditLogReader, type LoggedEvent } from './audit-log-reader.js';
import { noLogAt } from './log-errors.js';

/**
 * Yields the events of every log (`*.jsonl`) of a folder, including the rotated files. It skips
 * lines that no sink wrote; `verifyAuditLog` reports those.
 *
 * @param folder the folder of the logs, such as `<home>/audit`
 * @returns events, ordered by their times across all logs, the oldest first
 * @throws `FILE_NOT_FOUND` if there is no log
 * @throws `STORE_UNAVAILABLE` if a sink rotates a log all the time
 */
export async function* readAuditLogs(folder: string): AsyncGenerator<LoggedEvent> {
  const reader = new AuditLogReader(folder);
  if (!(await reader.hasLogs())) {
    throw noLogAt(folder);
  }
  yield* reader.read();
}
