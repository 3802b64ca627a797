import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { EthosError } from '@ethosagent/types';
import { errnoOf, isMissing } from './errno.js';
import { isRunning, machine, ownStart } from './process-identity.js';

/** `<machine>-<pid>-<start of the process>-<one use>`: who holds a lock. */
const HOLDER = /^([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})-[0-9a-f-]{36}$/;

/** A lock that is held for as short as ours, and whose holder can't be asked, is dead after this. */
const FOREIGN_AGE_MS = 60_000;
/** A lock without its holder's name was being made, which takes no time. */
const UNNAMED_AGE_MS = 10_000;

const queues = new Map<string, Promise<void>>();

/**
 * Runs a task while no other does under the same path, in this process or in another one that
 * locks it. The lock of a process that died is taken away.
 *
 * @param path of the lock, a file in a folder that exists; equal paths are the same lock
 * @param waitMs how long to wait for the lock
 * @throws `STORE_UNAVAILABLE` when it was held for so long; errors of the operating system
 */
export async function withFileLock<T>(
  path: string,
  waitMs: number,
  task: () => Promise<T>,
): Promise<T> {
  const before = queues.get(path) ?? Promise.resolve();
  let release = () => {};
  const turn = new Promise<void>((resolve) => {
    release = resolve;
  });
  const last = before.then(() => turn);
  queues.set(path, last);
  await before;
  try {
    const holder = await acquire(path, waitMs);
    try {
      return await task();
    } finally {
      releaseFile(path, holder);
    }
  } finally {
    release();
    if (queues.get(path) === last) queues.delete(path);
  }
}

async function acquire(path: string, waitMs: number): Promise<string> {
  const holder = `${machine()}-${process.pid}-${ownStart()}-${randomUUID()}`;
  const deadline = performance.now() + waitMs;
  while (!createNamed(path, holder)) {
    if (isStale(path)) breakStale(path);
    else if (performance.now() > deadline) {
      throw new EthosError(
        'STORE_UNAVAILABLE',
        'another process keeps the file locked; try again later, or remove the lock if it is dead',
      );
    } else await delay(2 + Math.random() * 15);
  }
  return holder;
}

/**
 * Makes the lock with its holder's name in it, so that one that dies meanwhile leaves no lock that
 * nobody can be asked about.
 */
function createNamed(path: string, holder: string): boolean {
  const named = `${path}.${holder}`;
  writeFileSync(named, holder, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(named, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    // A file system without hard links.
    return create(path, holder);
  } finally {
    unlinkIfThere(named);
  }
}

/** @returns whether the file was made; `false` when there is one */
function create(path: string, content: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, content);
  } finally {
    closeSync(fd);
  }
  return true;
}

function isStale(path: string): boolean {
  try {
    const [, machineOf, pid, start] = HOLDER.exec(readFileSync(path, 'utf8')) ?? [];
    if (start === undefined) return ageMs(path) > UNNAMED_AGE_MS;
    if (machineOf === machine()) return !isRunning(Number(pid), start);
    return ageMs(path) > FOREIGN_AGE_MS;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/**
 * Takes a dead lock away. Under a lock of its own, held without a pause: of two that found the
 * same one dead, the slower would otherwise take the new lock of the faster.
 */
function breakStale(path: string): void {
  const breaker = `${path}.break`;
  if (!create(breaker, '')) {
    if (ageMs(breaker) > UNNAMED_AGE_MS) unlinkIfThere(breaker);
    return;
  }
  try {
    if (isStale(path)) unlinkIfThere(path);
  } finally {
    unlinkIfThere(breaker);
  }
}

function releaseFile(path: string, holder: string): void {
  try {
    if (readFileSync(path, 'utf8') === holder) unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function ageMs(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Date.now() - stat.mtimeMs;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
