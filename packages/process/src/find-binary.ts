import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Finds the file of a program on a `PATH`. Relative and empty entries of the `PATH` are skipped.
 *
 * @param name the name of the program, without a slash
 * @param path the folders, separated as in the variable `PATH`
 * @returns an absolute path; `undefined` if no folder has an executable file with this name
 */
export function findBinary(name: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    if (isExecutableFile(file)) return file;
  }
  return undefined;
}

/**
 * Whether a path is a regular file that this process may execute.
 *
 * @param file an absolute path
 */
export function isExecutableFile(file: string): boolean {
  try {
    // Most folders of a `PATH` don't have the file. An exception for each of them would be slow.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The interpreter that a script names, if it does not exist; otherwise `undefined`. */
export function missingInterpreter(file: string): string | undefined {
  const interpreter = /^#![ \t]*(\/[^\s\0]*)/.exec(beginningOf(file))?.[1];
  return interpreter === undefined || isExecutableFile(interpreter) ? undefined : interpreter;
}

function beginningOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    // Linux reads no more than this either.
    const bytes = Buffer.alloc(256);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } catch {
    // A file may be executable and not readable.
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
