import { posix } from 'node:path';
import { HOME, isUnknown } from './marked-text.js';

/** The folders in which a command may run. */
export interface PossibleFolders {
  /** The absolute path of the working directory. */
  workingDir: string;
  /** The folders that the command line may be in, the one where it begins included. */
  dirs: readonly string[];
}

const MAX_DIRS = 16;
// A longer list makes each check of a path slow.
const MAX_PATH = 1024;

/** Resolves a path from one folder, and keeps its marks; `undefined` when it is unknown. */
export function resolveFrom(dir: string, path: string): string | undefined {
  const joined = path.startsWith('/') || path.startsWith(HOME) ? path : `${dir}/${path}`;
  // An unknown part may be `..`, or begin with `/`.
  if (isUnknown(joined)) return undefined;
  const normal = posix.normalize(joined);
  if (normal.startsWith(HOME)) return normal.replace(/\/+$/, '');
  // A path such as `~/..` is somewhere above a home.
  if (!normal.startsWith('/')) return '/';
  return normal.replace(/^\/+/, '/').replace(/(.)\/+$/, '$1');
}

/** Resolves a path from every folder in which the command may run. */
export function resolveIn(place: PossibleFolders, path: string): (string | undefined)[] {
  return [...new Set(place.dirs.map((dir) => resolveFrom(dir, path)))];
}

/** Returns the place after a change of folder that may or may not happen. */
export function withChange(place: PossibleFolders, target: string): PossibleFolders {
  const next = place.dirs.map((dir) => {
    const resolved = resolveFrom(dir, target) ?? UNKNOWN_DIR;
    return resolved.length > MAX_PATH ? UNKNOWN_DIR : resolved;
  });
  const dirs = [...new Set([...place.dirs, ...next])];
  return { ...place, dirs: dirs.length > MAX_DIRS ? [place.workingDir, UNKNOWN_DIR] : dirs };
}

// Makes every path that is joined to it unknown.
const UNKNOWN_DIR = '\uE000';
