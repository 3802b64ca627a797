import { relative } from 'node:path';
import { compilePathSet, normalizePath, pathAndParents } from '@ethosagent/policy';
import type { ResolvedGrant } from '../resolved-grant.js';
import { withParents } from '../with-parents.js';
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
  const inPlaces = compilePathSet(places);
  const aroundPlaces = withParents(places);
  for (const path of before.deny ?? []) {
    if (!isOpen(path)) continue;
    if (inPlaces.covers(path) === undefined && !aroundPlaces.has(normalizePath(path))) continue;
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
  const [linkBefore, linkAfter] = [linksOf(before), linksOf(after)];
  for (const kind of ['read', 'write'] as const) {
    const known = compilePathSet(
      before[kind].flatMap((root) => {
        const link = linkBefore(root);
        if (link === undefined) return [root];
        return relative(link.root, root) === '' ? [link.lead] : [];
      }),
    );
    for (const root of after[kind]) {
      const link = linkAfter(root);
      const old = linkBefore(root);
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

interface Link {
  readonly root: string;
  readonly lead: string;
}

/** Gives the link that is a root itself, or the nearest one above it. */
function linksOf({ leads = {} }: Files): (root: string) => Link | undefined {
  const links = new Map(
    Object.entries(leads).map(([root, lead]) => [normalizePath(root), { root, lead }]),
  );
  return (root) => {
    const nearest = pathAndParents(normalizePath(root)).find((path) => links.has(path));
    return nearest === undefined ? undefined : links.get(nearest);
  };
}

/** A root can't be moved or removed. Lists the roots that lost this protection. */
function compareRoots(before: Files, after: Files): GainedAccess[] {
  const now = new Set(rootsOf(after));
  const writable = compilePathSet(after.write);
  return rootsOf(before)
    .filter((root) => !now.has(root))
    .filter((root) => {
      const folder = writable.covers(root);
      return folder !== undefined && folder !== root;
    })
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
