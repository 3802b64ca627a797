import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

/** How a path is shown: relative to the working directory where it lies below it. */
export function displayPath(workingDir: string, path: string): string {
  const below = relative(workingDir, path);
  if (below === '') return '.';
  return isOutside(below) ? path : below.replaceAll(sep, '/');
}

/** Whether a path is a folder, or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return !isOutside(relative(folder, path));
}

/** A folder and all above it, the nearest first. */
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
