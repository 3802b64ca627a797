import { isMcpToolName } from '@ethosagent/policy';
import type { LockedText, ReachLock } from './reach-lock.js';

/** The new names, by the old ones. */
export interface Renames {
  readonly tools: ReadonlyMap<string, string>;
  readonly servers: ReadonlyMap<string, string>;
}

/**
 * Finds tools and servers that have only changed their name: a server that is reached in the same
 * way, a tool with the same description and schema. If several match, none counts as renamed.
 */
export function findRenames(before: ReachLock, after: ReachLock): Renames {
  return {
    servers: renamesOf(before.servers, after.servers, {
      nameOf: ({ server }) => server,
      // The pin does not depend on the name.
      sameAs: ({ pin }) => pin,
    }),
    tools: renamesOf(before.texts, after.texts, {
      nameOf: ({ tool }) => tool,
      sameAs: whatItSays,
    }),
  };
}

function whatItSays({ tool, description, schema = '' }: LockedText): string {
  // If a server is renamed, its tools keep their own names.
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
  const onlyGone = onlyOnes(gone, sameAs);
  const onlyCome = onlyOnes(come, sameAs);
  return new Map(
    gone.flatMap((item): [string, string][] => {
      const key = sameAs(item);
      const found = onlyCome.get(key);
      return found === undefined || onlyGone.get(key) === undefined
        ? []
        : [[nameOf(item), nameOf(found)]];
    }),
  );
}

/** The items by their keys; `undefined` for a key that several items have. */
function onlyOnes<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T | undefined> {
  const found = new Map<string, T | undefined>();
  for (const item of items) {
    const key = keyOf(item);
    found.set(key, found.has(key) ? undefined : item);
  }
  return found;
}
