import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { EthosError } from '@ethosagent/types';
import type { Head, NoHead } from './head-file.js';
import { rotatedFiles } from './log-files.js';

const MAX_ATTEMPTS = 100;

/** The files of a log, held open, and the head that fits them. */
export interface LogSnapshot {
  head: Head | NoHead;
  /** The oldest first. The last one is the log file itself, if it exists. */
  files: readonly OpenFile[];
  close(): void;
}

export interface OpenFile {
  path: string;
  descriptor: number;
  stat: Stats;
}

/** Opens a log as it is at one moment, although its sink may rotate it at the same time. */
export function openSnapshot(log: string, readHead: () => Head | NoHead): LogSnapshot {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const head = readHead();
    const files: OpenFile[] = [];
    const close = () => {
      for (const { descriptor } of files) closeSync(descriptor);
    };
    try {
      for (const path of filesOf(log)) {
        const file = openIfThere(path);
        if (file !== undefined) files.push(file);
      }
      // A rotation renames every file. If it also removes a file, it changes the head before that.
      if (isUnmoved(log, files) && oldestOf(readHead()) === oldestOf(head)) {
        return { head, files, close };
      }
    } catch (error) {
      close();
      throw error;
    }
    close();
  }
  throw new EthosError('STORE_UNAVAILABLE', `${log} is rotated all the time; check it again later`);
}

function filesOf(log: string): string[] {
  return [...rotatedFiles(log).map(({ path }) => path), log];
}

function openIfThere(path: string): OpenFile | undefined {
  let descriptor: number;
  try {
    // Non-blocking: somebody may have put a pipe there, and opening it would wait.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return { path, descriptor, stat: fstatSync(descriptor) };
}

function isUnmoved(log: string, files: readonly OpenFile[]): boolean {
  const now = filesOf(log).flatMap((path) => {
    const ino = statSync(path, { throwIfNoEntry: false })?.ino;
    return ino === undefined ? [] : [`${path} ${ino}`];
  });
  return now.join('\n') === files.map(({ path, stat }) => `${path} ${stat.ino}`).join('\n');
}

function oldestOf(head: Head | NoHead): number | string {
  return typeof head === 'string' ? head : head.oldest;
}
