import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { createDenySet } from '@ethosagent/policy';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { DenyIndex } from './deny-index.js';
import { askedPath, links, makeLinkWorld } from './fixtures/link-worlds.js';
import { followLinks } from './follow-links.js';

const rules = fc.array(
  fc.constantFrom('in/a/denied', 'in/a/denied/key', 'in/l', 'in/m', 'in/a/l', 'out', 'in/none/x'),
  {
    minLength: 1,
    maxLength: 3,
  },
);

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

const isBelow = (path: string, place: string) => path === place || path.startsWith(`${place}/`);

describe('DenyIndex, whatever the links', () => {
  fuzz(
    'covers a denied place as named and where it really is, with all below, and hard links to it',
    fc.tuple(links, rules, fc.array(askedPath, { minLength: 25, maxLength: 25 })),
    ([links, rules, paths]) => {
      const world = makeLinkWorld(links);
      try {
        const denied = rules.map((rule) => join(world.root, rule));
        const index = new DenyIndex(denied);
        // The place to which a dangling link leads is denied too, even before it exists.
        const leadsTo = (path: string) => realOf(path) ?? followLinks(path) ?? [];
        const places = [...denied, ...denied.flatMap(leadsTo)];
        const isDenied = (path: string) => places.some((place) => isBelow(path, place));
        for (const asked of paths) {
          const path = realOf(`${world.root}/${asked}`);
          if (path === undefined) continue;
          expect(index.covers(path) !== undefined).toBe(isDenied(path));
          // A place below another denied one is not stored, since everything there is denied.
          if (isDenied(path)) continue;
          expect(index.isBelow(path)).toBe(places.some((place) => isBelow(place, path)));
        }
        const key = join(world.root, 'in/a/denied/key');
        if (isDenied(key)) {
          expect(index.hasInode(lstatSync(join(world.root, 'in/hard')))).toBe(true);
        }
        expect(index.hasInode(lstatSync(join(world.root, 'in/file')))).toBe(false);
      } finally {
        world.remove();
      }
    },
    { promised: 'reach', runs: { check: 30, long: 10_000 } },
  );

  growsLinearly(
    'createDenySet answers in linear time for many places',
    (size) => Array.from({ length: size / 20 }, (_, at) => `/deny/${at % 97}/${at}`),
    (paths) => {
      const set = createDenySet(paths);
      return [set.covers('/deny/1/x/y'), set.isBelow('/deny')];
    },
  );
});
