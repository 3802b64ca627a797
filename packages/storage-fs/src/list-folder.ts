import { readdir } from 'node:fs/promises';
import { compareCodePoints } from '@ethosagent/policy';
import type { StorageEntry } from '@ethosagent/types';
import type { Folder } from './access.js';
import { isMissing } from './errno.js';
import { judgeUnopened, locate, type Request, type World } from './locate.js';
import { isTemporaryName } from './temp-files.js';

/** Returns the children of a folder in code point order, without files that are being written. */
export async function listFolder(world: World, request: Request): Promise<StorageEntry[]> {
  let folder: Folder;
  try {
    folder = world.access.openFolder(request.path, true);
  } catch (error) {
    judgeUnopened(world, request);
    if (isMissing(error) && !isThere(world, request)) return [];
    throw error;
  }
  try {
    world.guard.judge(request, folder.realPath());
    const children = await readdir(folder.child('.'), { withFileTypes: true });
    // While it was read, the held folder may have been moved out of the reach, and got other children.
    world.guard.judge(request, folder.realPath());
    return children
      .filter((child) => !isTemporaryName(child.name))
      .map((child) => ({
        name: child.name,
        isDir:
          child.isDirectory() ||
          (child.isSymbolicLink() && leadsToFolder(world, folder.child(child.name))),
      }))
      .sort((a, b) => compareCodePoints(a.name, b.name));
  } finally {
    folder.close();
  }
}

function isThere(world: World, request: Request): boolean {
  const place = locate(world, request, { follow: true });
  place?.folder.close();
  return place?.stat !== undefined;
}

/** Whether a path leads to a folder within the reach. */
function leadsToFolder(world: World, path: string): boolean {
  try {
    const folder = world.access.openFolder(path, true);
    try {
      return world.guard.mayRead(folder.realPath());
    } finally {
      folder.close();
    }
  } catch {
    return false;
  }
}
