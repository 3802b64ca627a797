import {
  isDeclarablePath,
  meetHostLists,
  meetPathLists,
  meetSecretRefs,
  parseHostPattern,
} from '@ethosagent/policy';
import type { SecretRef } from '@ethosagent/types';
import { refsAround } from './capabilities/secret-index.js';

/**
 * The most that a call may reach. A list keeps only what the call could reach and what is also in
 * the list. An absent list changes nothing. An empty list leaves nothing.
 */
export interface CallNarrowing {
  /** Host patterns. A port or a private address in a pattern does not open it. */
  hosts?: readonly string[];
  /** Folders, absolute. */
  read?: readonly string[];
  write?: readonly string[];
  /** Refs, or prefixes that end in `/*`. */
  secrets?: readonly SecretRef[];
  /** Names as the tool uses them, or `*`. */
  binaries?: readonly string[];
}

type List = keyof CallNarrowing;

/** For each list of a narrowing: how two lists are met, and what a valid entry is. */
const LISTS: {
  readonly [K in List]: {
    meet(a: readonly string[], b: readonly string[]): string[];
    isEntry(entry: string): boolean;
  };
} = {
  hosts: { meet: meetHostLists, isEntry: (entry) => parseHostPattern(entry) !== null },
  read: { meet: meetPathLists, isEntry: isDeclarablePath },
  write: { meet: meetPathLists, isEntry: isDeclarablePath },
  secrets: { meet: meetRefLists, isEntry: (entry) => meetSecretRefs(entry, entry) !== null },
  binaries: { meet: meetBinaries, isEntry: (entry) => entry !== '' },
};

/**
 * Reads what a host gave as a narrowing.
 * @returns `undefined` for an invalid one: a misspelt list must not leave the reach unlimited
 */
export function readNarrowing(given: unknown): CallNarrowing | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const read: Partial<Record<List, readonly string[]>> = {};
  for (const [key, list] of Object.entries(given)) {
    if (list === undefined) continue;
    if (!isList(key) || !Array.isArray(list)) return undefined;
    const entries: unknown[] = [...list];
    const isWhole = entries.every(
      (entry): entry is string => typeof entry === 'string' && LISTS[key].isEntry(entry),
    );
    if (!isWhole) return undefined;
    read[key] = Object.freeze(entries.map(String));
  }
  return read;
}

/** The narrowing that leaves only what both leave. */
export function meetNarrowings(
  a: CallNarrowing | undefined,
  b: CallNarrowing | undefined,
): CallNarrowing | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const met: Partial<Record<List, readonly string[]>> = {};
  for (const key of Object.keys(LISTS).filter(isList)) {
    const [mine, other] = [a[key], b[key]];
    const both = mine && other ? LISTS[key].meet(mine, other) : (mine ?? other);
    if (both !== undefined) met[key] = both;
  }
  return met;
}

/** The patterns of the refs that both lists cover. */
export function meetRefLists(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...refsWithin(a, b), ...refsWithin(b, a)])];
}

/** Of some refs, those that others cover: a ref is looked for among the prefixes of it, not among all. */
function refsWithin(refs: readonly string[], others: readonly string[]): string[] {
  const wide = new Set(others);
  return refs.filter((ref) =>
    refsAround(ref).some((each) => wide.has(each) && meetSecretRefs(each, ref) === ref),
  );
}

/** The binaries that both lists name. `*` stands for any binary. */
export function meetBinaries(a: readonly string[], b: readonly string[]): string[] {
  const right = new Set(b);
  const both = a.filter((one) => right.has(one) || right.has('*'));
  if (a.includes('*')) both.push(...b);
  return [...new Set(both)];
}

function isList(key: string): key is List {
  return Object.hasOwn(LISTS, key);
}
