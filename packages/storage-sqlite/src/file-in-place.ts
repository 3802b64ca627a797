import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { EthosError } from '@ethosagent/types';

/**
 * The time after which a folder's next change surely gets another time. File systems keep the time
 * of a change in steps; the longest are two seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Remembers the files of a database and its log. A connection continues to use the files that it
 * has opened, even if they are removed or replaced. It would then confirm writes that nobody finds
 * again.
 *
 * A file is not looked at while nothing in its folder was added, removed or renamed: on Linux, a
 * look at a file's times makes the next write of this file store its times too, which makes a
 * durable commit a third slower.
 *
 * @param file the path of a database that is open and in WAL mode; not `:memory:`
 * @param now the clock of the file system, in milliseconds since the epoch
 * @returns a function that throws `STORE_UNAVAILABLE` if the files are no longer at their paths, and
 * else returns whether it looked at them
 */
export function rememberFiles(file: string, now: () => number = Date.now): () => boolean {
  const paths = [file, `${file}-wal`];
  const known = paths.map(identityOf);
  const folder = dirname(file);
  // What a link leads to may change in another folder.
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== false;
  /** The folder as it was when the files were last found in their places. */
  let confirmed: string | undefined;
  return () => {
    const state = isLink ? undefined : stateOf(folder, now());
    if (state !== undefined && state === confirmed) return false;
    confirmed = undefined;
    if (!paths.every((path, index) => identityOf(path) === known[index])) {
      throw new EthosError(
        'STORE_UNAVAILABLE',
        'the file of the store was moved, replaced or removed; put it back, or close the store and open it again',
      );
    }
    confirmed = state;
    return true;
  };
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** A text that differs after any change to a folder; `undefined` if the next change may be missed. */
function stateOf(folder: string, now: number): string | undefined {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const { dev, ino, mtimeNs, ctimeNs, ctimeMs } = stat;
  // A file system without times of folders says 0.
  const isSettled = mtimeNs > 0n && Number(ctimeMs) + SETTLED_MS < now;
  return isSettled ? `${dev}:${ino}:${mtimeNs}:${ctimeNs}` : undefined;
}
