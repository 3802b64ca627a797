import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { askedPath, links, makeLinkWorld } from './fixtures/link-worlds.js';
import { followLinks, realLocation } from './follow-links.js';

function realpath(path: string): { path: string } | { errno: unknown } {
  try {
    return { path: realpathSync.native(path) };
  } catch (error) {
    return { errno: Reflect.get(Object(error), 'code') };
  }
}

describe('followLinks, whatever the links', () => {
  fuzz(
    'ends up where the system does, or would if the last name were made',
    fc.tuple(links, fc.array(askedPath, { minLength: 25, maxLength: 25 })),
    ([links, paths]) => {
      const world = makeLinkWorld(links);
      try {
        for (const path of paths) check(`${world.root}/${path}`);
      } finally {
        world.remove();
      }
    },
    { promised: 'reach', runs: { check: 40, long: 10_000 } },
  );
});

function check(path: string): void {
  const found = followLinks(path);
  const real = realpath(path);
  if ('path' in real) {
    expect(found).toBe(real.path);
    expect(realLocation(path)).toBe(real.path);
    return;
  }
  // A path through a file leads nowhere, and neither does one that continues after a missing name.
  if (real.errno === 'ELOOP') expect(found).toBeUndefined();
  if (real.errno !== 'ENOENT' || found === undefined) return;
  expect(resolve(found)).toBe(found);
  const parent = realpath(dirname(path));
  const isPlain = !['', '.', '..', 'l', 'm'].includes(basename(path)) && !path.endsWith('/');
  if ('path' in parent && isPlain) expect(found).toBe(join(parent.path, basename(path)));
}
