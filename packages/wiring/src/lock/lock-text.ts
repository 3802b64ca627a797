import { formatLock } from './format-lock.js';
import { parseLock } from './parse-lock.js';
import { type LockPlaces, localLock, portableLock } from './portable-lock.js';
import type { ReachLock } from './reach-lock.js';

/**
 * The text of a lock, the same on every machine: paths begin with `${ETHOS_HOME}` and `${CWD}`.
 *
 * @param lock to write
 * @param places the home and the working directory of this machine
 * @returns the text
 */
export function formatReachLock(lock: ReachLock, places: LockPlaces): string {
  return formatLock(portableLock(lock, places));
}

/**
 * Reads the text of a lock, with the paths of this machine.
 *
 * @param text of the file
 * @param options `file` is what messages call it
 * @returns the lock
 * @throws `CONFIG_INVALID` with the line, for what is no lock, has another version, or was edited
 */
export function parseReachLock(text: string, options: LockPlaces & { file: string }): ReachLock {
  return localLock(parseLock(text, options.file), options);
}
