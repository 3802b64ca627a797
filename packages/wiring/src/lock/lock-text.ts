import { assertOptions, isString, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { formatLock } from './format-lock.js';
import { parseLock } from './parse-lock.js';
import { type LockPlaces, localLock, portableLock } from './portable-lock.js';
import type { ReachLock } from './reach-lock.js';

/**
 * Returns the text of a lock. It is the same on every machine: paths begin with `${ETHOS_HOME}` and
 * `${CWD}`.
 *
 * @param lock the lock, with the paths of this machine
 * @param places the home and the working directory of this machine
 * @returns the text
 */
export function formatReachLock(lock: ReachLock, places: LockPlaces): string {
  return formatLock(portableLock(lock, places));
}

const OPTIONS: OptionNames<LockPlaces & { file: string }> = {
  home: [isString, 'a text'],
  cwd: [isString, 'a text'],
  file: [isString, 'a text'],
};

/**
 * Parses the text of a lock, and replaces the variables by the paths of this machine.
 *
 * @param text the text of the file
 * @param options the home and the working directory, and `file`, the name of the lock in messages
 * @returns the lock
 * @throws `CONFIG_INVALID` for something else than a text and options
 * @throws `CONFIG_INVALID` with the line, if the text is not a lock, has another version, or was
 * edited
 */
export function parseReachLock(text: string, options: LockPlaces & { file: string }): ReachLock {
  assertOptions('parseReachLock', options, OPTIONS);
  if (typeof text !== 'string') {
    throw new EthosError(
      'CONFIG_INVALID',
      `parseReachLock: give the text of the lock, not ${typeof text}; await a promise of it`,
    );
  }
  return localLock(parseLock(text, options.file), options);
}
