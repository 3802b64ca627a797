import { dirname } from 'node:path';
import { errorCodeOf, type ScopedFs } from '@ethosagent/types';

/**
 * Returns the first files of a list that exist and are in reach, in the order of the list. ripgrep
 * does not know the deny floor, so each path that it found is checked here before it is shown or
 * used. When a folder is out of reach, everything below it is, too.
 *
 * @param max how many files to return at most; 1 or more
 */
export async function reachableFiles(
  fs: ScopedFs,
  paths: Iterable<string>,
  max: number,
): Promise<string[]> {
  const reachable: string[] = [];
  const deniedFolders = new Set<string>();
  for (const path of paths) {
    if (isBelowAny(path, deniedFolders)) continue;
    const answer = await isThere(fs, path);
    if (answer === true) reachable.push(path);
    // Stop before the next path is computed.
    if (reachable.length === max) break;
    if (answer !== undefined) continue;
    const folder = dirname(path);
    if ((await isThere(fs, folder)) === undefined) deniedFolders.add(folder);
  }
  return reachable;
}

/** Whether a file exists; `undefined` when it is out of reach. */
async function isThere(fs: ScopedFs, path: string): Promise<boolean | undefined> {
  try {
    return await fs.exists(path);
  } catch (error) {
    if (errorCodeOf(error) === 'PATH_NOT_REACHABLE') return undefined;
    throw error;
  }
}

function isBelowAny(path: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  for (let folder = dirname(path), last = path; folder !== last; folder = dirname(folder)) {
    if (folders.has(folder)) return true;
    last = folder;
  }
  return false;
}
