import { Turns } from '@ethosagent/policy';

const turns = new Turns();

// No absolute path, so that it is the lock of no file.
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
 * Runs one edit of a file: after the earlier accesses of its path, and with no other edit in this
 * process at the same time, because two paths may lead to one file by a link.
 *
 * @param path absolute
 */
export function withEditLock<T>(path: string, edit: () => Promise<T>): Promise<T> {
  // In this order only: whoever has the second lock waits for nothing, so none waits in a circle.
  return withPathLock(path, () => withPathLock(ALL_EDITS, edit));
}
