import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnerAlive, type LockOwner, nameOfOwner, ownLock, parseOwner } from './lock-owner.js';

const HELD = 'held';

/** A lock that another one has, or asks for at this moment. */
export interface Rival {
  /** The file that stands for it. */
  readonly file: string;
  readonly pid: number;
  /** Whether it has the lock. Otherwise it asks, and goes away by itself. */
  readonly isHolder: boolean;
}

/** A lock that was taken, or who stands in the way. */
export type LockAttempt =
  | { readonly isTaken: true; readonly release: () => void }
  | { readonly isTaken: false; readonly rival: Rival };

/**
 * Tries to take a lock for this process, once, without waiting.
 *
 * @param path what is locked, in a folder that exists; equal paths are the same lock
 * @returns the lock with its `release`, or the rival that has it
 * @throws errors of the operating system
 */
export function tryLock(path: string): LockAttempt {
  // The invariant: at most one process finds its file alone. Each process first creates a file of its own,
  // `<path>.lock.…`, and then lists the folder. When two come at the same time, the later list has both
  // files. So they can't both find themselves alone, but both may step back.
  // Nobody ever takes over a file: a process removes its own file, and the file of a dead process. A
  // file's name has the start of its process, so that a later process with the same id is another one.
  // Age decides nothing: a process that was stopped for an hour still has its lock.
  const folder = dirname(path);
  const prefix = lockPrefix(path);
  const mine = join(folder, prefix + nameOfOwner(ownLock()));
  const release = () => removeIfThere(mine);
  closeSync(openSync(mine, 'wx', 0o600));
  try {
    const rivals = rivalsOf(folder, prefix, mine);
    const rival = rivals.find(({ isHolder }) => isHolder) ?? rivals[0];
    if (rival === undefined) {
      writeFileSync(mine, HELD);
      return { isTaken: true, release };
    }
    // If two processes come at the same time, both step back.
    release();
    return { isTaken: false, rival };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Whether a running process, this one or another, has the lock. Changes nothing.
 *
 * @param path what is locked
 */
export function isLocked(path: string): boolean {
  return locksOf(dirname(path), lockPrefix(path)).some(
    ({ file, owner }) => isOwnerAlive(owner) && isHeld(file),
  );
}

function lockPrefix(path: string): string {
  return `${basename(path)}.lock.`;
}

function rivalsOf(folder: string, prefix: string, mine: string): Rival[] {
  return locksOf(folder, prefix).flatMap(({ file, owner }) => {
    if (file === mine) return [];
    if (isOwnerAlive(owner)) return [{ file, pid: owner.pid, isHolder: isHeld(file) }];
    removeIfThere(file);
    return [];
  });
}

function locksOf(folder: string, prefix: string): Array<{ file: string; owner: LockOwner }> {
  return readdirSync(folder).flatMap((name) => {
    const owner = name.startsWith(prefix) ? parseOwner(name.slice(prefix.length)) : undefined;
    return owner === undefined ? [] : [{ file: join(folder, name), owner }];
  });
}

function isHeld(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') === HELD;
  } catch {
    return false;
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
