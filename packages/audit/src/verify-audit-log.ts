import { fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isLocked } from '@ethosagent/file-lock';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { AuditReport } from './audit-report.js';
import { type ChainHash, chainHash } from './chain.js';
import { ChainWalk } from './chain-walk.js';
import { type Head, headPath, type NoHead, namedId, readHead } from './head-file.js';
import { noLogAt } from './log-errors.js';
import { logsIn, rotatedFiles } from './log-files.js';
import { openSnapshot } from './log-snapshot.js';
import { type Line, readLines } from './read-lines.js';

/** The log to check, and its key. */
export interface VerifyAuditOptions {
  /**
   * The path of a log of `JsonlAuditSink`, or of a folder, in which every log (`*.jsonl`) is
   * checked.
   */
  path: string;
  /** The key that the log was written with. */
  key?: string | Uint8Array;
}

/**
 * Changes that a check can't detect in a log without a key. Somebody who may write the log can make
 * each of them, and compute the hashes that follow again.
 */
export const WITHOUT_KEY: readonly string[] = [
  'No sign of it, and no proof against it without a key: lines removed from the beginning, with the head changed to begin later.',
  'No sign of it, and no proof against it without a key: lines removed from the end, with the head changed to end earlier.',
  'No sign of it, and no proof against it without a key: lines put in, changed or added by someone who may write the log.',
];
export const MAX_PROBLEMS = 1_000;
/** Milliseconds after which a sink has finished the line that it was writing. */
const SETTLED_MS = 20;

const OPTIONS: OptionNames<VerifyAuditOptions> = {
  path: true,
  key: true,
};

/**
 * Checks the chain of a log of `JsonlAuditSink` from its oldest line to its newest, across its
 * rotated files. A sink may write the log meanwhile. The check needs a bounded amount of memory,
 * whatever the size of the files.
 *
 * @param options the log or its folder, and the key that it was written with
 * @returns the problems that were found, and what the check can't detect; `ok` if there is no
 * problem
 * @throws `FILE_NOT_FOUND` if there is no log
 * @throws `CONFIG_INVALID` if a log was written with a key and none is given, or if the given key
 * has less than 16 bytes
 * @throws `STORE_UNAVAILABLE` if a sink rotates the log all the time
 */
export async function verifyAuditLog(options: VerifyAuditOptions): Promise<AuditReport> {
  assertOptions('verifyAuditLog', options, OPTIONS);
  const { path, key } = options;
  const hashOf = chainHash(key);
  const isKeyed = key !== undefined;
  const report: AuditReport = {
    ok: true,
    events: 0,
    problems: [],
    cannotTell: isKeyed ? [] : [...WITHOUT_KEY],
  };
  const isFolder = (await kindOf(path)) === 'folder';
  const folder = isFolder ? path : dirname(path);
  const logs = isFolder ? await logsIn(folder) : (await isLog(path)) ? [path] : [];
  if (logs.length === 0) throw noLogAt(path);
  const shared = sharedIds([...logs, ...(await logsIn(folder))]);
  for (const log of logs) {
    const walk = new ChainWalk(log, hashOf, (problem) => {
      report.ok = false;
      if (report.problems.length < MAX_PROBLEMS) report.problems.push(problem);
    });
    const { unfinished, keyedFrom } = await verifyOne({ log, hashOf, isKeyed, walk, shared });
    if (keyedFrom !== undefined && keyedFrom > 1) report.cannotTell.push(beforeKey(log, keyedFrom));
    if (unfinished > 0) report.unfinishedBytes = (report.unfinishedBytes ?? 0) + unfinished;
    report.events += walk.events;
  }
  return report;
}

interface OneLog {
  log: string;
  hashOf: ChainHash;
  isKeyed: boolean;
  walk: ChainWalk;
  shared: ReadonlySet<string>;
}

/**
 * Checks one log.
 *
 * @returns the number of bytes after the last line break of the log, and the number of the first
 * line that uses a key
 */
async function verifyOne({
  log,
  hashOf,
  isKeyed,
  walk,
  shared,
}: OneLog): Promise<{ unfinished: number; keyedFrom: number | undefined }> {
  let unfinished = 0;
  const readHeadNow = () => headOf(log, hashOf, isKeyed);
  const { head, files, close } = openSnapshot(log, readHeadNow);
  try {
    walk.start(head, typeof head !== 'string' && shared.has(head.id));
    for (const { path, descriptor, stat } of files) {
      if (!stat.isFile()) {
        walk.malformed(path, 0);
        continue;
      }
      let number = 0;
      let size = 0;
      for await (const line of readLines(descriptor)) {
        number += 1;
        if (line.isWhole) {
          size += line.length + 1;
          walk.line(path, number, line.bytes);
        } else if (path !== log) {
          walk.malformed(path, number);
        } else if (await isLeft(descriptor, size + line.length)) {
          unfinished = line.length;
          if (isJson(line) || !isLocked(log)) walk.malformed(path, number);
        }
      }
    }
  } finally {
    close();
  }
  walk.end(readHeadNow());
  return { unfinished, keyedFrom: typeof head === 'string' ? undefined : head.keyedFrom };
}

/** Whether no sink is writing at the end of the file. */
async function isLeft(descriptor: number, size: number): Promise<boolean> {
  await delay(SETTLED_MS);
  return fstatSync(descriptor).size === size;
}

/** Whether a line is valid JSON, or too long to check. */
function isJson({ bytes, length }: Line): boolean {
  if (bytes.length < length) return true;
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** The ids that several logs share. One of these logs is a copy. */
function sharedIds(logs: readonly string[]): Set<string> {
  const ids = [...new Set(logs.map((log) => resolve(log)))].flatMap((log) => namedId(log) ?? []);
  return new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
}

function beforeKey(log: string, keyedFrom: number): string {
  return `${log} was begun without a key, which holds from line ${keyedFrom} on: of the lines before, nobody can tell what they were when they were written.`;
}

function headOf(log: string, hashOf: ChainHash, isKeyed: boolean): Head | NoHead {
  const head = readHead(log, hashOf, isKeyed);
  if (head !== 'keyed') return head;
  throw new EthosError(
    'CONFIG_INVALID',
    `${log} was written with a key; give that key (verifyRuntimeAudit of wiring has that of a home)`,
  );
}

/** A log whose own file was removed still counts if a rotated file or its head is left. */
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
