import { EthosError } from '@ethosagent/types';
import { AuditLogReader, type LoggedEvent } from './audit-log-reader.js';

/**
 * The events of every log (`*.jsonl`) of a folder, with their rotated files, ordered by their times.
 * Lines that no sink wrote are passed over: `verifyAuditLog` reports them.
 *
 * @param folder as `<home>/audit`
 * @returns events, the oldest first
 * @throws `FILE_NOT_FOUND` where there is no log
 */
export async function* readAuditLogs(folder: string): AsyncGenerator<LoggedEvent> {
  const reader = new AuditLogReader(folder);
  if (!(await reader.hasLogs())) {
    throw new EthosError('FILE_NOT_FOUND', `there is no audit log at ${folder}`);
  }
  yield* reader.read();
}
