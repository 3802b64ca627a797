import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import type { AuditReport } from './audit-report.js';
import { type ChainHash, chainHash } from './chain.js';
import { ChainWalk } from './chain-walk.js';
import { type Head, headPath, type NoHead, readHead } from './head-file.js';
import { linesOf } from './lines-of.js';
import { rotatedFiles } from './log-files.js';
import { openSnapshot } from './log-snapshot.js';

/** Which log to check. */
export interface VerifyAuditOptions {
  /** A log of `JsonlAuditSink`, or a folder: every log (`*.jsonl`) in it. */
  path: string;
  /** The key that it was written with. */
  key?: string | Uint8Array;
}

const MAX_PROBLEMS = 1_000;

/**
 * Checks the chain of a log of `JsonlAuditSink` from its oldest line to its newest, across its
 * rotated files. A log may be written meanwhile. Memory is bounded, whatever the files hold.
 *
 * @throws `FILE_NOT_FOUND` where there is no log; `CONFIG_INVALID` for a log that was written with
 * a key when none is given
 */
export async function verifyAuditLog(options: VerifyAuditOptions): Promise<AuditReport> {
  const { path, key } = options;
  const hashOf = chainHash(key);
  const isKeyed = key !== undefined;
  const report: AuditReport = { ok: true, events: 0, problems: [] };
  const logs = await logsAt(path);
  if (logs.length === 0) throw new EthosError('FILE_NOT_FOUND', `there is no audit log at ${path}`);
  for (const log of logs) {
    const walk = new ChainWalk(log, hashOf, (problem) => {
      report.ok = false;
      if (report.problems.length < MAX_PROBLEMS) report.problems.push(problem);
    });
    await verifyOne(log, hashOf, isKeyed, walk);
    report.events += walk.events;
  }
  return report;
}

async function verifyOne(
  log: string,
  hashOf: ChainHash,
  isKeyed: boolean,
  walk: ChainWalk,
): Promise<void> {
  const readHeadNow = () => headOf(log, hashOf, isKeyed);
  const { head, files, close } = openSnapshot(log, readHeadNow);
  try {
    walk.start(head);
    for (const { path, descriptor, stat } of files) {
      if (!stat.isFile()) {
        walk.malformed(path, 0);
        continue;
      }
      let number = 0;
      for await (const { bytes, isWhole } of linesOf(descriptor)) {
        number += 1;
        if (isWhole) walk.line(path, number, bytes);
        // What a sink is writing now, or was when it died.
        else if (path !== log) walk.malformed(path, number);
      }
    }
  } finally {
    close();
  }
  walk.end(readHeadNow());
}

function headOf(log: string, hashOf: ChainHash, isKeyed: boolean): Head | NoHead {
  const head = readHead(log, hashOf, isKeyed);
  if (head !== 'keyed') return head;
  throw new EthosError('CONFIG_INVALID', `${log} was written with a key; give that key`);
}

async function logsAt(path: string): Promise<string[]> {
  if ((await kindOf(path)) !== 'folder') return (await isLog(path)) ? [path] : [];
  const names = (await readdir(path)).map((name) =>
    /^(.+\.jsonl)(?:\.head|\.\d{1,4})?$/.exec(name),
  );
  const logs = new Set(names.flatMap((match) => match?.[1] ?? []));
  return [...logs].sort().map((name) => join(path, name));
}

/** A log that was removed is one still, as long as something of it is there. */
async function isLog(path: string): Promise<boolean> {
  if ((await kindOf(path)) === 'other' || (await kindOf(headPath(path))) === 'other') return true;
  try {
    return rotatedFiles(path).length > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function kindOf(path: string): Promise<'folder' | 'other' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (isMissing(error)) return 'missing';
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
