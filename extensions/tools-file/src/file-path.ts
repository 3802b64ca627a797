import { isAbsolute, relative, resolve, sep } from 'node:path';

/** The absolute path of what a model asked for; relative paths start at the working directory. */
export function absolutePath(workingDir: string, path: string): string {
  return resolve(workingDir, path);
}

/** How a path is shown: relative to the working directory where it lies below it. */
export function displayPath(workingDir: string, path: string): string {
  const below = relative(workingDir, path);
  if (below === '') return '.';
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below;
}
