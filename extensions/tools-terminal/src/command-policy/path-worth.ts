import { GLOB, HOME } from './marked-text.js';
import { type PossibleFolders, resolveIn } from './possible-folders.js';

/**
 * How much is lost when a path is removed with everything below it.
 *
 * - `all`: the root, a folder directly below it, a home, the working directory, or a folder above
 * - `working files`: everything in the working directory, but not the directory itself
 * - `elsewhere`: something outside of the working directory and of folders for temporary files
 * - `unknown`: the path is known only at run time
 * - `little`: something below the working directory or below a folder for temporary files
 */
export type Worth = 'all' | 'working files' | 'elsewhere' | 'unknown' | 'little';

const TEMPORARY = /^\/(tmp|var\/tmp|private\/tmp|private\/var\/tmp|dev\/shm)(\/|$)/;
const HOMES = /^\/(home|Users|var\/home|mnt|media|c|Volumes)\/[^/]+$/;
const TOP = /^\/[^/]*$/;

const ORDER: readonly Worth[] = ['little', 'elsewhere', 'unknown', 'working files', 'all'];

/**
 * Returns the worth of a path. If it may be several paths, it returns the highest of their worths.
 */
export function worthOf(place: PossibleFolders, path: string): Worth {
  let worst: Worth = 'little';
  for (const resolved of resolveIn(place, path)) {
    const worth = resolved === undefined ? 'unknown' : worthOfResolved(place, resolved);
    if (ORDER.indexOf(worth) > ORDER.indexOf(worst)) worst = worth;
  }
  return worst;
}

function worthOfResolved({ workingDir }: PossibleFolders, path: string): Worth {
  const parts = path.split('/');
  const last = parts.at(-1) ?? '';
  // `x/*` is all of x.
  if (new RegExp(`^\\.?${GLOB}+$`).test(last)) {
    const parent = parts.slice(0, -1).join('/') || '/';
    if (parent === workingDir) return 'working files';
    return worthOfResolved({ workingDir, dirs: [] }, parent);
  }
  if (path === '/' || path === HOME) return 'all';
  if (path === workingDir || workingDir.startsWith(`${path}/`)) return 'all';
  // A pattern in the middle may find the working directory too.
  const pattern = path.indexOf(GLOB);
  if (pattern !== -1 && !isBelow(path.slice(0, pattern), workingDir)) {
    return TOP.test(path) ? 'all' : TEMPORARY.test(path) ? 'little' : 'elsewhere';
  }
  if (isBelow(path, workingDir)) return 'little';
  if (TEMPORARY.test(path))
    return TEMPORARY.test(`${path}/`) && isTemporaryRoot(path) ? 'elsewhere' : 'little';
  if (TOP.test(path) || HOMES.test(path)) return 'all';
  return 'elsewhere';
}

function isTemporaryRoot(path: string): boolean {
  return /^\/(tmp|var\/tmp|private\/tmp|private\/var\/tmp|dev\/shm)$/.test(path);
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' ? true : path.startsWith(`${folder}/`);
}
