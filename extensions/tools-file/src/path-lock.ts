import { Turns } from '@ethosagent/policy';

const turns = new Turns();

// This key is not an absolute path, so it can not be the key of a file.
const ALL_EDITS = 'edits';

/**
 * Runs one access of a file after those that were asked for earlier, so that calls of one batch see
 * each other's result. The next starts whether this one worked or threw.
 *
 * @param path absolute; other cases and Unicode forms of it count as the same file, because on
 * some file systems they are
 */
export function withPathLock<T>(path: string, access: () => Promise<T>): Promise<T> {
  return turns.run(path.normalize('NFC').toLowerCase(), access);
}

/**
 * Runs one edit of a file. It waits for the earlier accesses of its path. It also waits for every other
 * edit in this process, because a link may make two paths lead to one file.
 *
 * @param path absolute
 */
export function withEditLock<T>(path: string, edit: () => Promise<T>): Promise<T> {
  // The invariant: the lock of the path is always taken first, and the lock of all edits second. Who has
  // the second lock waits for no lock, so there is no deadlock.
  return withPathLock(path, () => withPathLock(ALL_EDITS, edit));
}
