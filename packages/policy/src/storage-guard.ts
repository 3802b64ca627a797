import { BoundaryError, EthosError, type ReachKind } from '@ethosagent/types';
import { normalizePath, pathProblem } from './paths.js';

/** What tells a file from others, as `fs.Stats` has it. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  readonly nlink: number;
  readonly ctimeMs: number;
  isDirectory(): boolean;
}

/** Which way, and for which path as the caller gave it. */
export interface Asking {
  readonly kind: ReachKind;
  readonly asked: string;
}

/** What stands between a request and a storage. `asked` is the path as the caller gave it. */
export interface StorageGuard {
  /** Judges the path as a string, before anything is touched, and normalises it. */
  enter(kind: ReachKind, asked: string): string;
  /** Judges where something really is, and with `stat` what it is. */
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

/** Checks that the path can name a file and makes it absolute. @throws `PATH_INVALID` */
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

/** Keeps what may be written but not read from being moved to where it may be read. */
export function assertNotRevealed(
  guard: StorageGuard,
  move: { source: string; target: string; asked: string },
): void {
  if (guard.mayRead(move.target) && !guard.mayRead(move.source)) {
    throw new BoundaryError('read', move.asked, 'a move makes nothing readable');
  }
}
