import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import { EthosError } from '@ethosagent/types';

const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Returns the path of a home's lock. Tools can't write there.
 *
 * @param home the absolute path of the home, as for `createToolRuntime`
 * @returns the path, `<home>/reach.lock`
 */
export function reachLockPath(home: string): string {
  return join(home, 'reach.lock');
}

/**
 * Throws if a tool could replace the lock.
 *
 * @param file the absolute path of the lock
 * @param writable the absolute paths of folders that tools may write
 * @throws `CONFIG_INVALID` if the lock, or the place that its path leads to, is in such a folder
 */
export function assertLockIsKept(file: string, writable: readonly string[]): void {
  const places = [file, realLocation(file)];
  const folder = writable.find((root) =>
    places.some((place) => isWithin(place, root) || isWithin(place, realLocation(root))),
  );
  if (folder === undefined) return;
  throw invalid(
    `${file} is in ${folder}, where tools may write: a tool could replace it; keep it in the home, or in a folder that no personality writes`,
  );
}

/**
 * Reads the text of a lock.
 *
 * @param file an absolute path
 * @returns the text
 * @throws `CONFIG_INVALID` if there is no file, or it is a link, not a regular file, too large, or
 * not UTF-8
 */
export function readLockText(file: string): string {
  let descriptor: number;
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    descriptor = openSync(file, flags);
  } catch (cause) {
    const code: unknown = Object(cause).code;
    if (code === 'ENOENT')
      throw invalid(`${file}: there is no lock; write it with "ethosagent lock"`, cause);
    if (code === 'ELOOP') throw invalid(`${file}: is a link; put the file itself there`, cause);
    throw invalid(`${file}: can not be opened (${String(code)}); let this user read it`, cause);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile())
      throw invalid(
        `${file}: is not a regular file; remove it, and write the lock with "ethosagent lock"`,
      );
    if (stats.size > MAX_BYTES)
      throw invalid(
        `${file}: is larger than ${MAX_BYTES} bytes; write it again with "ethosagent lock"`,
      );
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
  } catch (cause) {
    if (cause instanceof EthosError) throw cause;
    throw invalid(`${file}: is not UTF-8 text; write it again with "ethosagent lock"`, cause);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a lock atomically.
 *
 * @param file an absolute path
 * @param text the text that `formatReachLock` returned
 * @throws `CONFIG_INVALID` if a link or a folder is at the path, or the file can't be written
 */
export function writeLockText(file: string, text: string): void {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) {
    throw invalid(`${file}: is a link or no regular file; remove it first`);
  }
  const temporary = join(dirname(file), `.reach-${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o644 });
    renameSync(temporary, file);
  } catch (cause) {
    rmSync(temporary, { force: true });
    const { code = 'unknown error' } = Object(cause);
    throw invalid(
      `${file}: can not be written (${code}); let this user write in its folder`,
      cause,
    );
  }
}

function invalid(message: string, cause?: unknown): EthosError {
  return new EthosError('CONFIG_INVALID', message, { cause });
}
