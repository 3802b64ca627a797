import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The file that a bare name stands for on a `PATH`. Relative and empty entries are passed over. */
export function findBinary(name: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    if (isExecutableFile(file)) return file;
  }
  return undefined;
}

/** Whether there is a regular file that this process may execute. */
export function isExecutableFile(file: string): boolean {
  try {
    // Most folders of a `PATH` don't have it: that is no exception, which would cost more.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
