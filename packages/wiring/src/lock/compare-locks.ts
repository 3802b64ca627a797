import { compareTool, newTool } from './compare-tools.js';
import { findRenames, type Renames } from './find-renames.js';
import type { LockChange } from './lock-change.js';
import type { LockedPersonality, LockedServer, ReachLock } from './reach-lock.js';

/**
 * Compares two locks, and sorts the changes by their effect. A change that may allow one more
 * access is `widened`.
 *
 * @param before the lock that somebody accepted
 * @param after the lock of the present tools and personalities
 * @returns the changes; empty for locks that allow the same
 */
export function compareReachLocks(before: ReachLock, after: ReachLock): LockChange[] {
  const renames = findRenames(before, after);
  return [
    ...listChanges(before.environment, after.environment, (name) => ({
      message: `programs get the environment variable ${name}`,
      entry: name,
    })),
    ...compareServers(before, after, renames),
    ...pairsOf(before.personalities, after.personalities, ({ personality }) => personality).flatMap(
      ([old, now]) => comparePersonalities(old, now, renames),
    ),
    ...compareTexts(before, after, renames),
  ];
}

function comparePersonalities(
  before: LockedPersonality | undefined,
  after: LockedPersonality | undefined,
  renames: Renames,
): LockChange[] {
  const personality = after?.personality ?? before?.personality ?? '';
  const changes: LockChange[] = [];
  if (after === undefined) changes.push({ kind: 'narrowed', message: 'is gone' });
  else if (before === undefined) {
    changes.push({ kind: 'text', message: 'is a new personality' }, ...after.tools.map(newTool));
  } else {
    changes.push(
      ...compareApprovals(before, after),
      ...compareUntrusted(before, after),
      ...listChanges(
        before.servers.map((name) => renames.servers.get(name) ?? name),
        after.servers,
        (server) => ({
          message: `starts the MCP server ${server}`,
          policy: 'mcp_servers',
          entry: server,
        }),
      ),
      ...compareToolLists(before, after, renames),
    );
  }
  return changes.map((change) => ({ ...change, personality }));
}

function compareToolLists(
  before: LockedPersonality,
  after: LockedPersonality,
  renames: Renames,
): LockChange[] {
  const nowOf = new Map(after.tools.map((tool) => [tool.tool, tool]));
  const met = new Set<string>();
  const kept = before.tools.flatMap((old): LockChange[] => {
    const name = nowOf.has(old.tool) ? old.tool : (renames.tools.get(old.tool) ?? old.tool);
    const now = nowOf.get(name);
    if (now === undefined) {
      return [{ kind: 'narrowed', tool: old.tool, message: 'is not there any more' }];
    }
    met.add(name);
    return compareTool(old, now);
  });
  return [...kept, ...after.tools.filter(({ tool }) => !met.has(tool)).map(newTool)];
}

function compareApprovals(before: LockedPersonality, after: LockedPersonality): LockChange[] {
  const { approvals: old } = before;
  const { approvals: now } = after;
  const inherits = now.sub_agents === 'inherit';
  return [
    ...listChanges(old.grants, now.grants, (scope) => ({
      message: `a yes may hold for ${scope === 'session' ? 'a session' : `the ${scope}`}`,
      policy: 'safety.approvals.grants',
      entry: scope,
    })),
    ...(old.sub_agents === now.sub_agents
      ? []
      : [
          {
            kind: inherits ? ('widened' as const) : ('narrowed' as const),
            message: inherits
              ? 'a yes answers for sub-agents too'
              : 'a yes does not answer for sub-agents any more',
            policy: 'safety.approvals.sub_agents',
          },
        ]),
  ];
}

const DECISIONS = ['allow', 'ask', 'deny'] as const;

function compareUntrusted(before: LockedPersonality, after: LockedPersonality): LockChange[] {
  const { untrusted: old } = before;
  const { untrusted: now } = after;
  const decisions = (['write', 'send', 'spawn'] as const).flatMap((effect): LockChange[] => {
    const strictness = DECISIONS.indexOf(now[effect]) - DECISIONS.indexOf(old[effect]);
    if (strictness === 0) return [];
    const message = `${effect} after untrusted content: was ${old[effect]}, is ${now[effect]}`;
    const policy = `safety.untrusted.${effect}`;
    return [{ kind: strictness < 0 ? 'widened' : 'narrowed', message, policy }];
  });
  return [
    ...decisions,
    ...listChanges(old.trust, now.trust, (entry) => ({
      message: `trusts ${entry}`,
      policy: 'safety.untrusted.trust',
      entry,
    })),
  ];
}

function compareServers(before: ReachLock, after: ReachLock, renames: Renames): LockChange[] {
  const renamed = before.servers.map((server) => ({
    ...server,
    server: renames.servers.get(server.server) ?? server.server,
  }));
  const said = [...renames.servers].map(
    ([old, server]): LockChange => ({ kind: 'text', server, message: `was named ${old}` }),
  );
  return [
    ...said,
    ...pairsOf(renamed, after.servers, ({ server }) => server).flatMap(([old, now]) =>
      compareServer(old, now),
    ),
  ];
}

function compareServer(old: LockedServer | undefined, now: LockedServer | undefined): LockChange[] {
  const server = now?.server ?? old?.server ?? '';
  if (now === undefined) return [{ kind: 'narrowed', server, message: 'is not there any more' }];
  const reached = now.reached.join(' ');
  if (old === undefined) return [{ kind: 'widened', server, message: `is new: ${reached}` }];
  const before = old.reached.join(' ');
  if (before !== reached || old.reached.length !== now.reached.length) {
    return [
      {
        kind: 'widened',
        server,
        message: `was reached by ${before} before, and is now reached by ${reached}`,
      },
    ];
  }
  if (old.pin === now.pin && old.names.join('\n') === now.names.join('\n')) return [];
  const names = now.names.join(', ') || 'none';
  return [
    { kind: 'widened', server, message: `has other variables, headers or texts of them: ${names}` },
  ];
}

function compareTexts(before: ReachLock, after: ReachLock, renames: Renames): LockChange[] {
  const nowOf = new Map(after.texts.map((text) => [text.tool, text]));
  return before.texts.flatMap((old): LockChange[] => {
    const now = nowOf.get(old.tool) ?? nowOf.get(renames.tools.get(old.tool) ?? old.tool);
    if (now === undefined) return [];
    const { tool } = now;
    return [
      ...(old.description === now.description
        ? []
        : [{ kind: 'text' as const, tool, message: 'describes itself otherwise' }]),
      ...(old.schema === now.schema
        ? []
        : [{ kind: 'text' as const, tool, message: 'takes other arguments' }]),
    ];
  });
}

/** The entries that a list gained, as widened, and those that it lost. */
function listChanges(
  before: readonly string[],
  after: readonly string[],
  tell: (entry: string) => Omit<LockChange, 'kind'>,
): LockChange[] {
  const old = new Set(before);
  const now = new Set(after);
  return [
    ...after
      .filter((entry) => !old.has(entry))
      .map((entry) => ({ kind: 'widened' as const, ...tell(entry) })),
    ...before
      .filter((entry) => !now.has(entry))
      .map((entry) => {
        const told = tell(entry);
        return { kind: 'narrowed' as const, ...told, message: `no longer: ${told.message}` };
      }),
  ];
}

/** Pairs the items of both lists by their names. */
function pairsOf<T>(
  before: readonly T[],
  after: readonly T[],
  nameOf: (item: T) => string,
): [T | undefined, T | undefined][] {
  const old = new Map(before.map((item) => [nameOf(item), item]));
  const now = new Map(after.map((item) => [nameOf(item), item]));
  return [...new Set([...old.keys(), ...now.keys()])].map((name) => [old.get(name), now.get(name)]);
}
