import { Turns } from '@ethosagent/policy';

const turns = new Turns();

// This key is not an absolute path, so it can not be the key of a file.
const ALL_EDITS = 'edits';

/**
 * Runs an access of a file after all earlier accesses of its path, so that calls of one batch see
 * each other's result. The next access starts even when this one throws.
 *
 * @param path absolute; a path in other case or another Unicode form counts as the same file,
 *   because it is the same file on some file systems
 */
export function withPathLock<T>(path: string, access: () => Promise<T>): Promise<T> {
  return turns.run(path.normalize('NFC').toLowerCase(), access);
}

/**
 * Runs an edit of a file. It waits for all earlier accesses of its path. It also waits for every
 * other edit in this process, because a link can make two paths lead to one file.
 *
 * @param path absolute
 */
export function withEditLock<T>(path: string, edit: () => Promise<T>): Promise<T> {
  // The invariant: the lock of the path is always taken first, and the lock of all edits second. Who has
  // the second lock waits for no lock, so there is no deadlock.
  return withPathLock(path, () => withPathLock(ALL_EDITS, edit));
}
