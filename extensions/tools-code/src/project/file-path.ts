import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

/**
 * Returns a path as it is shown: relative when it is below the working directory, else absolute.
 */
export function displayPath(workingDir: string, path: string): string {
  const below = relative(workingDir, path);
  if (below === '') return '.';
  return isOutside(below) ? path : below.replaceAll(sep, '/');
}

/** Whether a path is the folder itself, or below it. */
export function isWithin(path: string, folder: string): boolean {
  return !isOutside(relative(folder, path));
}

/** Lists a folder and all folders above it, the nearest first. */
export function* ancestors(folder: string): Generator<string> {
  let at = resolve(folder);
  for (;;) {
    yield at;
    const parent = dirname(at);
    if (parent === at) return;
    at = parent;
  }
}

function isOutside(below: string): boolean {
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below);
}
