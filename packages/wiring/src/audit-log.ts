import { join } from 'node:path';
import { JsonlAuditSink, teeAuditSink } from '@ethosagent/audit';
import { type AuditSink, EthosError, errorCodeOf } from '@ethosagent/types';
import type { ToolRuntimeOptions } from './runtime-api.js';
import type { OpenedResources } from './stores/opened-resources.js';

const MAX_AUDIT_LOGS = 1_000;

/**
 * The sink of a runtime: the host's, which stays open, or a log in the home, with the host's beside it.
 * @throws `CONFIG_INVALID`
 */
export function openAudit(
  { home, audit = [], auditDurations = false }: ToolRuntimeOptions,
  opened: OpenedResources,
): AuditSink {
  if ('record' in audit) return audit;
  const log = openLog(join(home, 'audit'), auditDurations);
  opened.add(() => log.close());
  return audit.length === 0 ? log : teeAuditSink(log, ...audit);
}

/** The first of `audit.jsonl`, `audit-2.jsonl`, … that no other runtime writes: a log has one writer. */
function openLog(folder: string, durations: boolean): JsonlAuditSink {
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? 'audit.jsonl' : `audit-${number}.jsonl`);
    try {
      return new JsonlAuditSink({ path, durations });
    } catch (cause) {
      const code = errorCodeOf(cause);
      if (code === 'STORE_UNAVAILABLE' && number < MAX_AUDIT_LOGS) continue;
      if (code !== undefined) throw cause;
      const why = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
      throw new EthosError(
        'CONFIG_INVALID',
        `${path}: the audit log can not be opened${why}; make its folder one that this process can write in, or give an audit sink`,
        { cause },
      );
    }
  }
}
