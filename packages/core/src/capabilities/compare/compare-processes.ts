import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_PROCESS_LIMITS } from '@ethosagent/policy';
import type { ArgumentPolicy, ProcessLimits } from '@ethosagent/types';
import type { ResolvedGrant } from '../resolved-grant.js';
import type { CompareCapability, GainedAccess } from './grant-change.js';

type Processes = NonNullable<ResolvedGrant['process']>;

const NONE: Processes = { allowedBinaries: [] };
const DECLARED = 'process.allowedBinaries';
const SANDBOXES = [undefined, 'preferred', 'required'] as const;
const RESOURCES = {
  memory_mb: true,
  processes: true,
  cpu_seconds: true,
  file_size_mb: true,
  open_files: true,
} as const satisfies Record<keyof ProcessLimits, true>;

/**
 * The programs that `after` runs and `before` does not, or that `after` runs with fewer
 * restrictions.
 */
export const compareProcesses: CompareCapability = (before, after) => {
  const { process: old = NONE } = before;
  const { process: now = NONE } = after;
  if (now.allowedBinaries.length === 0) return [];
  if (old.allowedBinaries.length === 0) {
    return now.allowedBinaries.map((name) => program(name));
  }
  const known = new Set(old.allowedBinaries);
  const isKnown = (name: string) => known.has('*') || known.has(name);
  return [
    ...now.allowedBinaries.filter((name) => !isKnown(name)).map(program),
    ...compareSandbox(old, now),
    ...compareArguments(old.arguments ?? {}, now.arguments ?? {}),
    ...(now.background === true && old.background !== true
      ? [{ what: 'processes that outlive their call', declared: 'process.background' }]
      : []),
    // A process that has no sandbox and no declared reach may start in any folder.
    ...(before.fs_reach !== undefined && after.fs_reach === undefined
      ? [{ what: 'processes in any folder', declared: 'fs_reach' }]
      : []),
  ];
};

function program(name: string): GainedAccess {
  const what = name === '*' ? 'any program' : `the program ${name}`;
  return { what, entry: name, declared: DECLARED };
}

function compareSandbox(old: Processes, now: Processes): GainedAccess[] {
  const policy = 'safety.process.sandbox';
  const declared = 'process.sandbox';
  if (SANDBOXES.indexOf(now.sandbox) < SANDBOXES.indexOf(old.sandbox)) {
    const what =
      now.sandbox === undefined
        ? 'programs outside of a sandbox'
        : 'programs outside of a sandbox, where the machine has none';
    return [{ what, policy, declared }];
  }
  if (now.sandbox === undefined || old.sandbox === undefined) return [];
  const caps: ProcessLimits = { ...DEFAULT_PROCESS_LIMITS, ...old.limits };
  const limits: ProcessLimits = { ...DEFAULT_PROCESS_LIMITS, ...now.limits };
  return Object.keys(RESOURCES).flatMap((name) => {
    const cap = limitOf(caps, name);
    const limit = limitOf(limits, name);
    // A limit that is not a number can't be compared.
    if (limit <= cap || cap === Number.POSITIVE_INFINITY) return [];
    return [
      {
        what: `processes with ${name} up to ${Number.isFinite(limit) ? limit : 'no limit'}, ${cap} before`,
        policy: `safety.process.limits.${name}`,
      },
    ];
  });
}

function limitOf(limits: ProcessLimits, name: string): number {
  const found = Object.entries(limits).find(([key]) => key === name)?.[1];
  return found ?? Number.POSITIVE_INFINITY;
}

type Rules = Readonly<Record<string, ArgumentPolicy>>;

/** Rules provably allow no more only if every old list is still there and no denial is lost. */
function compareArguments(old: Rules, now: Rules): GainedAccess[] {
  return Object.entries(old)
    .filter(([name, rule]) => {
      const kept = Object.hasOwn(now, name) ? now[name] : undefined;
      return kept === undefined || !isWithinRule(kept, rule);
    })
    .map(([name]) => ({
      what: `arguments of ${name} that were refused`,
      entry: name,
      policy: `safety.process.arguments.${name}`,
    }));
}

function isWithinRule(now: ArgumentPolicy, old: ArgumentPolicy): boolean {
  if (isDeepStrictEqual(now, old)) return true;
  const lists = listsOf(now);
  return (
    (old.deny ?? []).every((pattern) => now.deny?.includes(pattern)) &&
    listsOf(old).every((list) =>
      lists.some((each) => each.every((pattern) => list.includes(pattern))),
    )
  );
}

function listsOf({ allow, allow_each = [] }: ArgumentPolicy): readonly (readonly string[])[] {
  return [...(allow === undefined ? [] : [allow]), ...allow_each];
}
