import { BoundaryError, EthosError, type ReachKind } from '@ethosagent/types';
import { normalizePath, pathProblem } from './paths.js';

/** What tells a file from others, as `fs.Stats` has it. */
export interface FileIdentity {
  /** The number of the device. */
  readonly dev: number;
  /** The number of the file on its device. */
  readonly ino: number;
  /** How many names the file has: more than one are hard links. */
  readonly nlink: number;
  readonly ctimeMs: number;
  /** Whether it is a folder. A folder's `nlink` counts no names. */
  isDirectory(): boolean;
}

/** The kind of an access, and the path as the caller gave it. */
export interface Asking {
  readonly kind: ReachKind;
  readonly asked: string;
}

/**
 * Judges each request before a storage carries it out. `asked` is the path as the caller gave it.
 */
export interface StorageGuard {
  /** Judges the path as a string, before anything is touched, and normalises it. */
  enter(kind: ReachKind, asked: string): string;
  /** Judges the place where something really is. With `stat` it also judges which file it is. */
  judge(asking: Asking, realPath: string, stat?: FileIdentity): void;
  /** Judges a folder that is about to be made, or was found, on the way to a file. */
  judgeStep(realPath: string, asked: string): void;
  /** Judges whether a thing may be taken from a place or put there. */
  judgeMove(realPath: string, asked: string, isFile: boolean): void;
  /** Whether the reach for reading includes a real path. */
  mayRead(realPath: string): boolean;
  /** Refuses a path whose links lead in a circle. */
  refuseLoop(kind: ReachKind, asked: string): never;
}

/**
 * Checks that the path can name a file and makes it absolute.
 *
 * @param asked absolute, or relative to the working directory of the process
 * @returns an absolute path without `.` and `..`
 * @throws `PATH_INVALID` for what can't name a file
 */
export function enterPath(asked: string): string {
  const problem = typeof asked === 'string' ? pathProblem(asked) : 'the path is not a string';
  if (problem !== undefined) throw new EthosError('PATH_INVALID', `${problem}; give another one`);
  return normalizePath(asked);
}

/** Everything is within reach: plain storage. */
export const openGuard: StorageGuard = {
  enter: (_kind, asked) => enterPath(asked),
  judge: () => {},
  judgeStep: () => {},
  judgeMove: () => {},
  mayRead: () => true,
  refuseLoop: (kind, asked) => {
    throw new EthosError('STORAGE_FAILED', `${kind} ${asked}: the symbolic links lead in a circle`);
  },
};

/**
 * Refuses a move that would make something readable that may be written but not read.
 *
 * @param guard of the storage
 * @param move where both ends really are, and the path as it was asked for
 * @throws `PATH_NOT_REACHABLE` for such a move
 */
export function assertNotRevealed(
  guard: StorageGuard,
  move: { source: string; target: string; asked: string },
): void {
  if (guard.mayRead(move.target) && !guard.mayRead(move.source)) {
    throw new BoundaryError('read', move.asked, 'a move makes nothing readable');
  }
}
