import { isAbsolute, join, relative } from 'node:path';
import type { ResolvedGrant } from '@ethosagent/core';
import { isWithin } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import type { LockedTool, ReachLock } from './reach-lock.js';

/** The folders that differ between machines. */
export interface LockPlaces {
  /** The home of the runtime, absolute. */
  readonly home: string;
  /** The working directory, absolute. */
  readonly cwd: string;
}

const VARIABLES = (
  [
    ['ETHOS_HOME', 'home'],
    ['CWD', 'cwd'],
  ] as const
).map(([name, key]) => [`\${${name}}`, key] as const);

/**
 * Replaces paths below the home and the working directory by variables, so that a lock is the same
 * on every machine.
 */
export function portableLock(lock: ReachLock, places: LockPlaces): ReachLock {
  const folders = VARIABLES.flatMap(([variable, key]) => {
    const folder = places[key];
    // Links on the way to these folders also differ between machines.
    return [...new Set([folder, realLocation(folder)])].map((path) => ({ variable, path }));
  }).sort((a, b) => b.path.length - a.path.length);
  return mapPaths(lock, (path) => {
    const found = folders.find((folder) => isWithin(path, folder.path));
    if (found === undefined) return path;
    const below = relative(found.path, path);
    return below === '' ? found.variable : `${found.variable}/${below.replaceAll('\\', '/')}`;
  });
}

/** The lock with the paths of this machine. */
export function localLock(lock: ReachLock, places: LockPlaces): ReachLock {
  return mapPaths(lock, (path) => {
    const found = VARIABLES.find(
      ([variable]) => path === variable || path.startsWith(`${variable}/`),
    );
    if (found === undefined) return path;
    const [variable, key] = found;
    return join(places[key], path.slice(variable.length));
  });
}

/** Whether a text is a path in a lock: absolute, or below a variable. */
function isPortablePath(path: string): boolean {
  return (
    isAbsolute(path) ||
    VARIABLES.some(([variable]) => path === variable || path.startsWith(`${variable}/`))
  );
}

function mapPaths(lock: ReachLock, map: (path: string) => string): ReachLock {
  const tool = (each: LockedTool): LockedTool => ({ ...each, grant: mapGrant(each.grant, map) });
  return {
    ...lock,
    personalities: lock.personalities.map((each) => ({
      ...each,
      untrusted: {
        ...each.untrusted,
        trust: [...new Set(each.untrusted.trust.map((entry) => mapSource(entry, map)))].sort(),
      },
      tools: each.tools.map(tool),
    })),
  };
}

/** A trusted source may be a path, or a path with everything below it. */
function mapSource(entry: string, map: (path: string) => string): string {
  if (!isPortablePath(entry)) return entry;
  const tree = '/**';
  return entry.endsWith(tree) ? `${map(entry.slice(0, -tree.length))}${tree}` : map(entry);
}

function mapGrant(grant: ResolvedGrant, map: (path: string) => string): ResolvedGrant {
  const { fs_reach, process: processes } = grant;
  const list = (paths: readonly string[]) => [...new Set(paths.map(map))].sort();
  return {
    ...grant,
    ...(fs_reach !== undefined && {
      fs_reach: {
        read: list(fs_reach.read),
        write: list(fs_reach.write),
        ...(fs_reach.deny !== undefined && { deny: list(fs_reach.deny) }),
        ...mapLeads(fs_reach.leads, map),
        ...(fs_reach.stays !== undefined && { stays: list(fs_reach.stays) }),
      },
    }),
    ...(processes !== undefined && {
      process: {
        ...processes,
        allowedBinaries: list(processes.allowedBinaries),
      },
    }),
  };
}

/** Leaves out links that only follow those of the home or the working directory. */
function mapLeads(
  leads: Readonly<Record<string, string>> | undefined,
  map: (path: string) => string,
): { leads?: Record<string, string> } {
  const mapped = Object.entries(leads ?? {})
    .map(([root, lead]) => [map(root), map(lead)] as const)
    .filter(([root, lead]) => root !== lead)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return mapped.length === 0 ? {} : { leads: Object.fromEntries(mapped) };
}
