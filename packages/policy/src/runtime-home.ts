import { relative, sep } from 'node:path';
import { isWithin } from './paths.js';

/**
 * The names that a runtime uses at the top of its home. Names that begin with a dot or end with
 * `.lock` are also reserved.
 */
const OWN: ReadonlySet<string> = new Set([
  'personalities',
  'secrets',
  'keychain',
  'memory',
  'audit',
  'attachments',
  'locks',
  'logs',
  'plugins',
  'sessions',
  'mcp.json',
]);
const OWN_DATABASE = /^(?:state|sessions)\.sqlite/;
/** The files of a personality that decide what it may do and what it remembers. */
const OWN_OF_PERSONALITY = /^(?:config\.yaml|memory\.md)(?:$|\.)/;

/** A root of a reach: as it is named, and where it leads. */
export interface NamedRoot {
  readonly named: string;
  readonly real: string;
}

/** How a root of a reach relates to the home of a runtime. */
export type HomeStanding =
  /** It has nothing to do with the home. */
  | 'apart'
  /** The home is in it. */
  | 'covers'
  /** It is, or holds, something that the runtime obeys or keeps. */
  | 'own'
  /** It is a folder in the home that belongs to the operator. */
  | 'named';

/**
 * Says how a root of a reach relates to the home of a runtime, by its name and by where it leads.
 * In a home, only folders that are `named` may be reached.
 *
 * @param root the root of a reach
 * @param home the home of the runtime
 * @returns the strictest answer for all four pairs of paths
 */
export function homeStanding(root: NamedRoot, home: NamedRoot): HomeStanding {
  const standings = [root.named, root.real].flatMap((path) =>
    [home.named, home.real].map((top) => standingOf(path, top)),
  );
  for (const standing of ['covers', 'own', 'named'] as const) {
    if (standings.includes(standing)) return standing;
  }
  return 'apart';
}

/**
 * The paths below a home that are denied one by one, where the home can't be denied as a whole.
 *
 * @returns paths that are relative to the home
 */
export function runtimeOwnNames(): string[] {
  const databases = ['state.sqlite', 'sessions.sqlite'].flatMap((name) =>
    ['', '-wal', '-shm', '-journal'].map((end) => name + end),
  );
  // The folder of a personality may also hold folders of the operator.
  return [...OWN, ...databases].filter((name) => name !== 'personalities');
}

function standingOf(path: string, home: string): HomeStanding {
  if (isWithin(home, path)) return 'covers';
  if (!isWithin(path, home)) return 'apart';
  // Some file systems treat `MCP.JSON` and `mcp.json` as the same name.
  const [top = '', id, entry] = relative(home, path).normalize('NFC').toLowerCase().split(sep);
  if (top === 'personalities') {
    return id === undefined || entry === undefined || OWN_OF_PERSONALITY.test(entry)
      ? 'own'
      : 'named';
  }
  const isOwn =
    OWN.has(top) || OWN_DATABASE.test(top) || top.startsWith('.') || top.endsWith('.lock');
  return isOwn ? 'own' : 'named';
}
