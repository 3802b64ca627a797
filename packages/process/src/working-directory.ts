import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  compileDenySet,
  followLinks,
  isWithin,
  leadOf,
  type PathSet,
  type RootLeads,
} from '@ethosagent/policy';
import { BoundaryError } from '@ethosagent/types';

/** A directory that was checked, and stays the same directory until it is released. */
export interface PinnedDirectory {
  /** The path to use as `cwd` of the child. */
  path: string;
  /** The real path of the directory when it was checked. */
  real: string;
  /** Closes the descriptor. Call it after the child has started. */
  release(): void;
}

/** The part of a reach that decides on working directories. */
export interface DirectoryReach {
  roots: readonly string[];
  /**
   * The real paths of the roots; `roots` themselves when absent. They are resolved once, so a root
   * that becomes a link later leads to no new place.
   */
  realRoots?: readonly string[];
  /** Whether a real path is denied. */
  denies(path: string): boolean;
  /** The part of the reach that a sandbox shows. Nothing when absent. */
  shown?: ShownReach;
}

/** The part of a reach that a sandbox shows. */
export interface ShownReach {
  roots: readonly ShownRoot[];
  /** The paths that are never shown. */
  readonly deny: PathSet;
}

/** A root as the call named it, and its real path when the reach was compiled. */
export interface ShownRoot {
  asked: string;
  real: string;
  writable: boolean;
}

/** The shown reach of a call that reaches no file. */
export const NOTHING_SHOWN: ShownReach = { roots: [], deny: compileDenySet([]) };

/** How many milliseconds may pass until a change of where a denied path leads takes effect. */
const FLOOR_MS = 5_000;

/**
 * Compiles the reach in which processes of a call may work. A root of the tool is left out if it
 * leads out of the operator's roots.
 *
 * @param paths the absolute files and folders of the tool, and `leads`, where roots led
 * @param operatorRoots the absolute paths that the personality reaches
 * @param deny the absolute paths that are denied
 * @returns the reach, with the real path of each root
 * @throws `CONFIG_INVALID` for a denied path that can't deny anything
 */
export function directoryReach(
  { read, write, leads }: { read: Iterable<string>; write: Iterable<string>; leads?: RootLeads },
  operatorRoots: readonly string[],
  deny: readonly string[],
): DirectoryReach {
  const own = operatorRoots.flatMap((root) => leadOf(root, leads, realOrAsked) ?? []);
  const shownAs = (writable: boolean) => (asked: string) => {
    const real = leadOf(asked, leads, realOrAsked);
    return real !== undefined && own.some((root) => isWithin(real, root))
      ? [{ asked, real, writable }]
      : [];
  };
  const shown = [...[...read].flatMap(shownAs(false)), ...[...write].flatMap(shownAs(true))];
  const compile = () => compileDenySet([...deny, ...deny.map(realOrAsked)]);
  let known = compile();
  let knownAt = performance.now();
  // A denied path may be created, or become a link, at any time.
  const floor = () => {
    if (performance.now() - knownAt > FLOOR_MS) {
      known = compile();
      knownAt = performance.now();
    }
    return known;
  };
  return {
    roots: [...read, ...write],
    realRoots: shown.map(({ real }) => real),
    denies: (path) => floor().covers(path) !== undefined,
    shown: {
      roots: shown,
      get deny() {
        return floor();
      },
    },
  };
}

/**
 * Opens a directory, and checks the directory that was opened. On Linux the child enters it through
 * its descriptor, so a swap in between changes nothing. On other systems the child enters the real
 * path.
 *
 * @param path an absolute path, or one relative to the working directory of the process
 * @param reach the reach of the call
 * @returns the directory; call `release` when the child has started
 * @throws `PATH_NOT_REACHABLE` for a missing directory, or one outside the reach
 */
export function pinDirectory(path: string, reach: DirectoryReach): PinnedDirectory {
  const denied = (rule?: string) => new BoundaryError('read', path, rule);
  const asked = resolve(path);
  if (!reach.roots.some((root) => isWithin(asked, root))) throw denied();
  if (process.platform !== 'linux') {
    const real = realOrAsked(asked);
    judge(real, reach, denied);
    return { path: real, real, release: () => {} };
  }
  // The folder is opened first, and checked through its descriptor. The child enters through the
  // same descriptor. So the child can only be where the check was, whatever is at the path then.
  let descriptor: number;
  try {
    descriptor = openSync(asked, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  } catch {
    throw denied('no such directory');
  }
  const held = `/proc/self/fd/${descriptor}`;
  try {
    const real = readlinkSync(held);
    judge(real, reach, denied);
    return { path: held, real, release: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function judge(
  real: string,
  reach: DirectoryReach,
  denied: (rule?: string) => BoundaryError,
): void {
  // The operator may have named a root through a link, so its real path counts.
  const roots = reach.realRoots ?? reach.roots.map(realOrAsked);
  if (!roots.some((root) => isWithin(real, root))) throw denied('a link leaves the reach');
  if (reach.denies(real)) throw denied('deny floor');
}

/**
 * Follows all links of a path. Parts that do not exist yet are kept.
 *
 * @param path an absolute path
 * @returns the real path; `undefined` if the links form a circle
 */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return followLinks(path, { targetOf });
  }
}

export function realOrAsked(path: string): string {
  return realPathOf(path) ?? path;
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    // It is not a link, may not be read, or is gone. Then nothing can follow it.
    return undefined;
  }
}
