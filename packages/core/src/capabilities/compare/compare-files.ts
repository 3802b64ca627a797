import { relative } from 'node:path';
import { compilePathSet, isWithin } from '@ethosagent/policy';
import type { ResolvedGrant } from '../resolved-grant.js';
import type { CompareCapability, GainedAccess } from './grant-change.js';

type Files = NonNullable<ResolvedGrant['fs_reach']>;

const NOTHING: Files = { read: [], write: [] };

/** The files that `after` reaches and `before` may not. */
export const compareFiles: CompareCapability = (
  { fs_reach: before = NOTHING },
  { fs_reach: after = NOTHING },
) => {
  const roots = [...after.read, ...after.write];
  if (roots.length === 0) return [];
  const denied = compilePathSet(after.deny ?? []);
  const isOpen = (path: string) => denied.covers(path) === undefined;
  const found: GainedAccess[] = [];
  for (const kind of ['read', 'write'] as const) {
    const known = compilePathSet(before[kind]);
    for (const root of after[kind].filter(isOpen)) {
      if (known.covers(root) !== undefined) continue;
      found.push({ ...keysOf(kind), entry: root, what: `${kind}s in ${root}` });
    }
  }
  const places = [...roots, ...Object.values(after.leads ?? {})];
  for (const path of before.deny ?? []) {
    if (!isOpen(path)) continue;
    if (!places.some((root) => isWithin(path, root) || isWithin(root, path))) continue;
    found.push({ policy: 'fs_reach', entry: path, what: `files in ${path}, which were denied` });
  }
  found.push(...comparePlaces(before, after), ...compareRoots(before, after));
  return found;
};

function keysOf(kind: 'read' | 'write') {
  return { policy: `fs_reach.${kind}`, declared: `fs_reach.${kind}` };
}

/** Roots that are links, and lead elsewhere than before. */
function comparePlaces(before: Files, after: Files): GainedAccess[] {
  const found = new Map<string, GainedAccess>();
  for (const kind of ['read', 'write'] as const) {
    const known = compilePathSet(
      before[kind].flatMap((root) => {
        const link = linkOf(before, root);
        if (link === undefined) return [root];
        return relative(link.root, root) === '' ? [link.lead] : [];
      }),
    );
    for (const root of after[kind]) {
      const link = linkOf(after, root);
      const old = linkOf(before, root);
      if (link?.root === old?.root && link?.lead === old?.lead) continue;
      const lead = link?.lead ?? root;
      if (known.covers(lead) !== undefined) continue;
      found.set(`${root} ${lead}`, {
        ...keysOf(kind),
        entry: root,
        what: `files in ${lead}, to which ${root} leads`,
      });
    }
  }
  return [...found.values()];
}

/** The link that is the root itself or a folder above it. */
function linkOf({ leads = {} }: Files, root: string): { root: string; lead: string } | undefined {
  const [link] = Object.entries(leads)
    .filter(([known]) => isWithin(root, known))
    .sort(([a], [b]) => b.length - a.length);
  return link && { root: link[0], lead: link[1] };
}

/** A root can't be moved or removed. Lists the roots that lost this protection. */
function compareRoots(before: Files, after: Files): GainedAccess[] {
  const now = new Set(rootsOf(after));
  return rootsOf(before)
    .filter((root) => !now.has(root))
    .filter((root) => after.write.some((folder) => folder !== root && isWithin(root, folder)))
    .map((root) => ({
      policy: 'fs_reach',
      entry: root,
      what: `moving or removing ${root}, which stayed in place as a folder of the reach`,
    }));
}

function rootsOf({ read, write, leads = {}, stays = [] }: Files): string[] {
  const roots = [...compilePathSet(read).roots, ...compilePathSet(write).roots];
  const places = roots.map(
    (root) => (Object.hasOwn(leads, root) ? leads[root] : undefined) ?? root,
  );
  return [...new Set([...roots, ...places, ...stays])];
}
