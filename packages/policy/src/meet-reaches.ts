import type { PersonalityConfig } from '@ethosagent/types';
import { isDeclarablePath, isWithin, meetPathLists, pathMeets } from './paths.js';

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
  const known = new Map<string, string>();
  const realOf = (path: string) => {
    const real = known.get(path) ?? realPath(path);
    known.set(path, real);
    return real;
  };
  // An operator's folder may be a link, and is followed wherever it leads. In the meet, it may lead
  // only to a place in both reaches.
  const met = pathMeets(a.filter(isDeclarablePath), b.filter(isDeclarablePath)).filter(
    ({ one, other, meet }) =>
      isWithin(realOf(meet), realOf(one)) && isWithin(realOf(meet), realOf(other)),
  );
  return meetPathLists(
    met.map(({ meet }) => meet),
    ['/'],
  );
}
