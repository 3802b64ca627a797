import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCodeOf, type ScopedFs } from '@ethosagent/types';
import type { SearchPlace } from './ripgrep-arguments.js';

const IGNORE_FILE = '.gitignore';

/**
 * Decides where ripgrep runs for a search below `root`. Ignore files between the working directory
 * and the root count when they are in reach. Those above the working directory are not read.
 *
 * @returns the place; `undefined` when there is nothing at the root
 * @throws `PATH_NOT_REACHABLE` when the root is out of reach
 */
export async function placeOf(
  fs: ScopedFs,
  workingDir: string,
  root: string,
): Promise<SearchPlace | undefined> {
  switch (await kindOf(fs, root)) {
    case 'nothing':
      return undefined;
    case 'file':
      return { target: root, ignoreFiles: [] };
    case 'folder': {
      const found = await ignoreFilesAbove(fs, resolve(workingDir), root);
      // Patterns in ignore files count from the folder that ripgrep runs in.
      const cwd = found.length === 0 ? root : dirname(found.at(-1) ?? root);
      return {
        cwd,
        target: relative(cwd, root).replaceAll(sep, '/') || '.',
        ignoreFiles: found.map((path) => relative(cwd, path)),
      };
    }
  }
}

async function kindOf(fs: ScopedFs, path: string): Promise<'file' | 'folder' | 'nothing'> {
  if (!(await fs.exists(path))) return 'nothing';
  try {
    await fs.readBytes(path);
    return 'file';
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'NOT_A_FILE') return 'folder';
    if (code === 'FILE_TOO_LARGE') return 'file';
    throw error;
  }
}

/** Finds the ignore files between `root` and `top`, the nearest first. */
async function ignoreFilesAbove(fs: ScopedFs, top: string, root: string): Promise<string[]> {
  const found: string[] = [];
  for (let folder = root; isBelow(folder, top); ) {
    folder = dirname(folder);
    const candidate = join(folder, IGNORE_FILE);
    try {
      if (await fs.exists(candidate)) found.push(candidate);
    } catch (error) {
      if (errorCodeOf(error) === 'PATH_NOT_REACHABLE') break;
      throw error;
    }
  }
  return found;
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
