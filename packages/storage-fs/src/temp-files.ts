import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isRunning, machine, ownStart } from '@ethosagent/file-lock';
import type { Folder } from './access.js';

// .ethos-<machine>-<pid>-<start of the process>-<file>-<checksum>.tmp
const NAME = /^\.ethos-([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{16}-([0-9a-f]{8})\.tmp$/;
const SWEEP_EVERY_MS = 60_000;
/** Milliseconds after which a file of another machine or container counts as abandoned. */
const FOREIGN_AGE_MS = 24 * 3_600_000;

const sweptAtMs = new Map<string, number>();
/** Files of this process that are no longer written and could not be removed. */
const abandoned = new Set<string>();

/**
 * Returns a new name for a file that is being written. Nobody can guess it, and a sweep recognises
 * it if this process dies.
 */
export function temporaryName(): string {
  const file = randomBytes(8).toString('hex');
  return signed(`.ethos-${machine()}-${process.pid}-${ownStart()}-${file}`);
}

/**
 * Whether `temporaryName` made a name. Because of the checksum, a file whose name only looks
 * similar is neither hidden nor removed.
 */
export function isTemporaryName(name: string): boolean {
  if (!name.startsWith('.ethos-') || !NAME.test(name)) return false;
  return signed(name.slice(0, name.lastIndexOf('-'))) === name;
}

/** Lets the next sweep remove a file of this process that can't be removed now. */
export function abandon(name: string): void {
  abandoned.add(name);
  sweptAtMs.clear();
}

/** Removes what ended processes left in a folder, at most once a minute for each folder. */
export async function sweepLeftovers(folder: Folder): Promise<void> {
  const key = folder.realPath();
  const now = Date.now();
  const last = sweptAtMs.get(key);
  if (last !== undefined && now - last < SWEEP_EVERY_MS && now >= last) return;
  if (sweptAtMs.size > 10_000) sweptAtMs.clear();
  sweptAtMs.set(key, now);
  try {
    for (const name of await readdir(folder.child('.'))) {
      if (isTemporaryName(name)) sweepOne(folder.child(name), name, now);
    }
  } catch {
    // A folder that may be written and not listed keeps its old files. The write must not fail
    // because of that.
  }
}

function sweepOne(path: string, name: string, now: number): void {
  const [, machineOf = '', pid = '', start = ''] = NAME.exec(name) ?? [];
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.nlink !== 1) return;
  const isDead =
    machineOf === machine()
      ? abandoned.has(name) || !isRunning(Number(pid), start)
      : now - stat.mtimeMs > FOREIGN_AGE_MS;
  if (!isDead) return;
  unlinkSync(path);
  abandoned.delete(name);
}

function signed(body: string): string {
  return `${body}-${createHash('sha256').update(body).digest('hex').slice(0, 8)}.tmp`;
}
