import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnerAlive, type LockOwner, nameOfOwner, ownLock, parseOwner } from './lock-owner.js';

const HELD = 'held';

/** A process that has the lock, or tries to take it at this moment. */
export interface Rival {
  /** The path of the rival's lock file. */
  readonly file: string;
  readonly pid: number;
  /** Whether the rival has the lock. Otherwise it is trying, and removes its file by itself. */
  readonly isHolder: boolean;
}

/** The result of an attempt: the lock, or the rival that prevented it. */
export type LockAttempt =
  | { readonly isTaken: true; readonly release: () => void }
  | { readonly isTaken: false; readonly rival: Rival };

/**
 * Tries to take a lock for this process, once, without waiting.
 *
 * @param path the path to lock, in a folder that exists; equal paths are the same lock
 * @returns a function that releases the lock, or the rival that prevented it
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
 * Whether a running process, this one or another, has the lock. This changes nothing.
 *
 * @param path the path that is locked, in a folder that exists
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
