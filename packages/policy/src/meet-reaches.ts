import type { PersonalityConfig } from '@ethosagent/types';
import { isDeclarablePath, isWithin, meetPathLists, meetPaths } from './paths.js';

type Reach = PersonalityConfig['fs_reach'];

/** The folders that are in both reaches. A missing list reaches nothing. */
export function meetReaches(
  a: Reach,
  b: Reach,
  realPath: (path: string) => string = (path) => path,
): Reach {
  if (a === undefined && b === undefined) return undefined;
  return {
    read: meetFolders(a?.read ?? [], b?.read ?? [], realPath),
    write: meetFolders(a?.write ?? [], b?.write ?? [], realPath),
  };
}

function meetFolders(
  a: readonly string[],
  b: readonly string[],
  realPath: (path: string) => string,
): string[] {
  const met: string[] = [];
  for (const mine of a.filter(isDeclarablePath)) {
    for (const other of b.filter(isDeclarablePath)) {
      const folder = meetPaths(mine, other);
      if (folder === null) continue;
      // An operator's folder may be a link, and is followed wherever it leads. In the meet, it may
      // lead only to a place in both reaches.
      const real = realPath(folder);
      if (isWithin(real, realPath(mine)) && isWithin(real, realPath(other))) met.push(folder);
    }
  }
  return meetPathLists(met, ['/']);
}
