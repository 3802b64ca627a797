import type { Stats } from 'node:fs';
import { normalizePath, pathProblem } from '@ethosagent/policy';
import { BoundaryError, EthosError, type ReachKind } from '@ethosagent/types';

/** Which way, and for which path as the caller gave it. */
export interface Asking {
  readonly kind: ReachKind;
  readonly asked: string;
}

/** What stands between a request and the disk. `asked` is the path as the caller gave it. */
export interface Guard {
  /** Judges the path as a string, before anything is touched, and normalises it. */
  enter(kind: ReachKind, asked: string): string;
  /** Judges where something really is, and with `stat` what it is. */
  judge(asking: Asking, realPath: string, stat?: Stats): void;
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
  const problem = pathProblem(asked);
  if (problem !== undefined) throw new EthosError('PATH_INVALID', `${problem}; give another one`);
  return normalizePath(asked);
}

/** Everything is within reach: plain storage. */
export const openGuard: Guard = {
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
  guard: Guard,
  move: { source: string; target: string; asked: string },
): void {
  if (guard.mayRead(move.target) && !guard.mayRead(move.source)) {
    throw new BoundaryError('read', move.asked, 'a move makes nothing readable');
  }
}
