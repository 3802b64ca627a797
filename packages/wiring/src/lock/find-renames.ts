import { isMcpToolName } from '@ethosagent/policy';
import type { LockedText, ReachLock } from './reach-lock.js';

/** New names by old ones. */
export interface Renames {
  readonly tools: ReadonlyMap<string, string>;
  readonly servers: ReadonlyMap<string, string>;
}

/**
 * Tools and servers that are gone and are there under another name: a server that is reached in the
 * same way, a tool that says the same of itself. Where several could be meant, none is.
 */
export function findRenames(before: ReachLock, after: ReachLock): Renames {
  return {
    servers: renamesOf(before.servers, after.servers, {
      nameOf: ({ server }) => server,
      // The pin does not hold the name.
      sameAs: ({ pin }) => pin,
    }),
    tools: renamesOf(before.texts, after.texts, {
      nameOf: ({ tool }) => tool,
      sameAs: whatItSays,
    }),
  };
}

function whatItSays({ tool, description, schema = '' }: LockedText): string {
  // The tool of a renamed server keeps its own name.
  const own = isMcpToolName(tool) ? tool.slice(tool.indexOf('__', 5)) : '';
  return JSON.stringify([own, description, schema]);
}

function renamesOf<T>(
  before: readonly T[],
  after: readonly T[],
  { nameOf, sameAs }: { nameOf: (item: T) => string; sameAs: (item: T) => string },
): Map<string, string> {
  const old = new Set(before.map(nameOf));
  const now = new Set(after.map(nameOf));
  const gone = before.filter((item) => !now.has(nameOf(item)));
  const come = after.filter((item) => !old.has(nameOf(item)));
  const only = (list: readonly T[], key: string) => {
    const [first, ...others] = list.filter((item) => sameAs(item) === key);
    return others.length === 0 ? first : undefined;
  };
  return new Map(
    gone.flatMap((item): [string, string][] => {
      const key = sameAs(item);
      const found = only(come, key);
      return found === undefined || only(gone, key) === undefined
        ? []
        : [[nameOf(item), nameOf(found)]];
    }),
  );
}
