import { isAbsolute, relative, resolve, sep } from 'node:path';

/**
 * Returns the absolute path of a path that a model gave. Relative paths start at the working
 * directory.
 */
export function absolutePath(workingDir: string, path: string): string {
  return resolve(workingDir, path);
}

/**
 * Returns a path as it is shown: relative when it is below the working directory, else absolute.
 */
export function displayPath(workingDir: string, path: string): string {
  const below = relative(workingDir, path);
  if (below === '') return '.';
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below;
}
