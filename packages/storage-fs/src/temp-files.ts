import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Folder } from './access.js';

// .ethos-<machine>-<pid>-<start of the process>-<file>-<checksum>.tmp
const NAME = /^\.ethos-([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{16}-([0-9a-f]{8})\.tmp$/;
/** Of a process whose start can't be told. */
const UNKNOWN = '00000000';
const SWEEP_EVERY_MS = 60_000;
/** After this, a leftover of another machine or container is taken for dead. */
const FOREIGN_AGE_MS = 24 * 3_600_000;

let startToken: string | undefined;
let machineToken: string | undefined;
const sweptAtMs = new Map<string, number>();
/** Names of this process that nobody writes any more, and that could not be removed. */
const abandoned = new Set<string>();

/** A fresh name for a file that is being written: not to be guessed, and to be swept if we die. */
export function temporaryName(): string {
  const file = randomBytes(8).toString('hex');
  startToken ??= startOf(process.pid) ?? UNKNOWN;
  return signed(`.ethos-${machine()}-${process.pid}-${startToken}-${file}`);
}

/**
 * Whether a name is one that `temporaryName` made. The checksum keeps a file that only looks like
 * one from being hidden or swept.
 */
export function isTemporaryName(name: string): boolean {
  if (!name.startsWith('.ethos-') || !NAME.test(name)) return false;
  return signed(name.slice(0, name.lastIndexOf('-'))) === name;
}

/** Has the next sweep take a file of this process that can not be removed now. */
export function abandon(name: string): void {
  abandoned.add(name);
  sweptAtMs.clear();
}

/** Removes what writers that are gone left in a folder; once a minute for each folder at most. */
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
    // A folder that can be written but not listed keeps its leftovers; that's no reason to fail.
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

/** Whether the process lives; not another one that was given its id later. */
function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: someone else's process, alive.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return (startOf(pid) ?? start) === start;
}

/** When a process started, as the kernel counts; see proc_pid_stat(5). Linux only. */
function startOf(pid: number): string | undefined {
  const fields = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The second field, the name, may itself hold spaces and parentheses.
  const ticks = fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19];
  if (ticks === undefined) return undefined;
  return (Number(ticks) >>> 0).toString(16).padStart(8, '0');
}

/** Says where process ids mean the same as here: this boot of this machine, in this container. */
function machine(): string {
  if (machineToken === undefined) {
    const facts = [
      hostname(),
      attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
      attempt(() => readlinkSync('/proc/self/ns/pid')),
    ];
    machineToken = createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 8);
  }
  return machineToken;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
