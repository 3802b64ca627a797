import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AuditReport,
  isKeylessLog,
  JsonlAuditSink,
  teeAuditSink,
  verifyAuditLog,
} from '@ethosagent/audit';
import { openFileKey, readFileKey } from '@ethosagent/storage-fs';
import { type AuditSink, EthosError, errorCodeOf } from '@ethosagent/types';
import type { ToolRuntimeOptions } from './runtime-api.js';
import type { OpenedResources } from './stores/opened-resources.js';

const MAX_AUDIT_LOGS = 1_000;

/** The sink of a runtime, and what an operator should know about it. */
export interface OpenedAudit {
  readonly sink: AuditSink;
  readonly problems: readonly string[];
}

/**
 * Opens the sink of a runtime. That is the host's sink, which stays open, or a log in the home,
 * together with the host's sink if there is one. The log has a key. It is kept with the secrets,
 * and the first runtime of the home makes it.
 * @throws `CONFIG_INVALID`
 */
export async function openAudit(
  { home, audit = [], auditDurations = false, auditBatch = false }: ToolRuntimeOptions,
  opened: OpenedResources,
): Promise<OpenedAudit> {
  if ('record' in audit) return { sink: audit, problems: [] };
  const folder = join(home, 'audit');
  const { key, problem } = await auditKey(home, folder);
  const problems = problem === undefined ? [] : [problem];
  const log = openLog({
    folder,
    durations: auditDurations,
    batch: auditBatch,
    key,
    problems,
  });
  opened.add(() => log.close());
  return { sink: audit.length === 0 ? log : teeAuditSink(log, ...audit), problems };
}

/** As `verifyRuntimeAudit`. */
export async function verifyHomeAudit(home: string): Promise<AuditReport> {
  const key = await readFileKey(keyFileOf(home));
  return verifyAuditLog({ path: join(home, 'audit'), ...(key !== undefined && { key }) });
}

function keyFileOf(home: string): { dir: string; name: string } {
  return { dir: join(home, 'secrets'), name: 'audit-log' };
}

async function auditKey(home: string, folder: string): Promise<{ key?: string; problem?: string }> {
  const file = keyFileOf(home);
  try {
    const { key, isNew } = await openFileKey(file);
    if (isNew) adoptLogs(folder, key);
    return { key };
  } catch (error) {
    const cause: { code?: unknown } = Object(error);
    const why = error instanceof EthosError ? error.message : String(cause.code ?? 'unknown');
    return {
      problem: `audit: the key of the log can not be kept in ${file.dir} (${why}), so who may write the log can write it anew unnoticed; make the folder one that only this process's user can write`,
    };
  }
}

/**
 * Logs that began without a key continue with the key. A log that a runtime is writing is left
 * alone.
 */
function adoptLogs(folder: string, key: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // There is no log yet.
    return;
  }
  for (const name of names.filter((name) => /^audit(-\d+)?\.jsonl$/.test(name))) {
    const path = join(folder, name);
    if (!isKeylessLog(path)) continue;
    try {
      new JsonlAuditSink({ path, key, adopt: true }).close();
    } catch {
      // The problem is reported when the log is opened.
    }
  }
}

interface LogOptions {
  folder: string;
  durations: boolean;
  batch: boolean;
  key: string | undefined;
  /** Filled with what an operator should know. */
  problems: string[];
}

/**
 * Opens the first of `audit.jsonl`, `audit-2.jsonl`, … that no other runtime writes, since a log
 * has one writer. A log that was written without the key is not continued: somebody may have put it
 * there.
 */
function openLog({ folder, key, problems, ...options }: LogOptions): JsonlAuditSink {
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? 'audit.jsonl' : `audit-${number}.jsonl`);
    try {
      if (key !== undefined && number < MAX_AUDIT_LOGS && isKeylessLog(path)) {
        problems.push(
          `audit: ${path} was written without the key of this home and is not continued; check it with "ethosagent audit verify" (in a program: verifyAuditLog), then move it, its numbered files and ${path}.head to another folder`,
        );
        continue;
      }
      return new JsonlAuditSink({ path, ...options, ...(key !== undefined && { key }) });
    } catch (cause) {
      const code = errorCodeOf(cause);
      if (code === 'STORE_UNAVAILABLE' && number < MAX_AUDIT_LOGS) continue;
      if (code === 'CONFIG_INVALID' && key === undefined && cause instanceof Error) {
        throw new EthosError('CONFIG_INVALID', [cause.message, ...problems].join('; '), { cause });
      }
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
