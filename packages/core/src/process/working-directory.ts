import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { compileDenySet, isWithin } from '@ethosagent/policy';
import { BoundaryError } from '@ethosagent/types';

/** A directory that stays what it was when it was judged, until it is released. */
export interface PinnedDirectory {
  /** Pass it as `cwd`. */
  path: string;
  release(): void;
}

/** The part of a reach that a working directory is judged by. */
export interface DirectoryReach {
  roots: readonly string[];
  /** Where the roots lead; `roots` themselves when absent. Looked up once: a root that becomes a link later leads nowhere new. */
  realRoots?: readonly string[];
  denies(path: string): boolean;
}

/** A tool's root that leads out of the operator's own roots is nobody's: it gives no reach. */
export function directoryReach(
  roots: readonly string[],
  operatorRoots: readonly string[],
  deny: readonly string[],
): DirectoryReach {
  const own = operatorRoots.map(realOrAsked);
  const floor = compileDenySet([...deny, ...deny.map(realOrAsked)]);
  return {
    roots,
    realRoots: roots.map(realOrAsked).filter((real) => own.some((root) => isWithin(real, root))),
    denies: (path) => floor.covers(path) !== undefined,
  };
}

/**
 * Opens a directory and judges what was opened. On Linux the child enters it by descriptor, so a
 * swap in between changes nothing; elsewhere by its real path.
 * @throws `PATH_NOT_REACHABLE`
 */
export function pinDirectory(path: string, reach: DirectoryReach): PinnedDirectory {
  const denied = (rule?: string) => new BoundaryError('read', path, rule);
  const asked = resolve(path);
  if (!reach.roots.some((root) => isWithin(asked, root))) throw denied();
  if (process.platform !== 'linux') {
    const real = realOrAsked(asked);
    judge(real, reach, denied);
    return { path: real, release: () => {} };
  }
  let descriptor: number;
  try {
    descriptor = openSync(asked, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  } catch {
    throw denied('no such directory');
  }
  try {
    judge(readlinkSync(`/proc/self/fd/${descriptor}`), reach, denied);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return {
    path: `/proc/self/fd/${descriptor}`,
    release: () => closeSync(descriptor),
  };
}

function judge(
  real: string,
  reach: DirectoryReach,
  denied: (rule?: string) => BoundaryError,
): void {
  // The operator may have named a root through a link: its real path counts.
  const roots = reach.realRoots ?? reach.roots.map(realOrAsked);
  if (!roots.some((root) => isWithin(real, root))) throw denied('a link leaves the reach');
  if (reach.denies(real)) throw denied('deny floor');
}

function realOrAsked(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
