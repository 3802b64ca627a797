import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import type { Storage } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { askedPath, type LinkWorld, links, makeLinkWorld } from './fixtures/link-worlds.js';
import { FsStorage } from './fs-storage.js';

const READS = ['read', 'readBytes', 'exists', 'list', 'listEntries', 'mtime'] as const;
const calls = fc.array(
  fc.record({
    path: askedPath,
    to: askedPath,
    operation: fc.constantFrom(
      ...READS,
      ...['write', 'mkdir', 'remove', 'removeAll', 'removeAll', 'rename', 'rename'],
    ),
  }),
  { minLength: 10, maxLength: 25 },
);

function run(view: Storage, operation: string, path: string, to: string): Promise<unknown> {
  switch (operation) {
    case 'read':
      return view.read(path);
    case 'readBytes':
      return view.readBytes(path).then((bytes) => bytes && Buffer.from(bytes).toString());
    case 'exists':
      return view.exists(path);
    case 'list':
      return view.list(path);
    case 'listEntries':
      return view.listEntries(path);
    case 'mtime':
      return view.mtime(path);
    case 'write':
      return view.write(path, 'written');
    case 'mkdir':
      return view.mkdir(path);
    case 'remove':
      return view.remove(path);
    case 'removeAll':
      return view.remove(path, { recursive: true });
    default:
      return view.rename(path, to);
  }
}

/** The real path according to the system, or `undefined`. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

let home: LinkWorld;
beforeAll(() => {
  home = makeLinkWorld([]);
});
afterAll(() => home.remove());

describe('FsStorage.contained, whatever the links and the calls', () => {
  fuzz(
    'reads what the system says is inside and not denied, and nothing else',
    fc.tuple(links, fc.array(askedPath, { minLength: 25, maxLength: 25 })),
    async ([links, paths]) => {
      const world = makeLinkWorld(links);
      try {
        const inside = join(world.root, 'in');
        const denied = join(inside, 'a', 'denied');
        const view = new FsStorage({ home: home.root }).contained({
          read: [inside],
          write: [],
          deny: [denied],
        });
        for (const asked of paths) {
          const path = `${world.root}/${asked}`;
          const named = resolve(path);
          const real = realOf(named);
          const isInside = isBelow(named, inside) && !isBelow(named, denied);
          const outcome = await view.read(path).then(
            (text) => ({ text }),
            (error: unknown) => ({ code: Reflect.get(Object(error), 'code') }),
          );
          if (
            !isInside ||
            (real !== undefined && (!isBelow(real, inside) || isBelow(real, denied)))
          ) {
            expect(outcome).toEqual({ code: 'PATH_NOT_REACHABLE' });
          } else if (real !== undefined && statSync(real).isFile()) {
            const isHardLink = statSync(real).nlink > 1;
            if (isHardLink) expect(outcome).toEqual({ code: 'PATH_NOT_REACHABLE' });
            // The content of each file is the name of its folder.
            else
              expect(outcome).toEqual({ text: real.slice(world.root.length + 1, -'/file'.length) });
          }
        }
      } finally {
        world.remove();
      }
    },
    { promised: 'reach', runs: { check: 30, long: 10_000 } },
  );

  fuzz(
    'changes nothing that is outside or denied, and shows nothing of it',
    fc.tuple(links, calls),
    async ([links, calls]) => {
      const world = makeLinkWorld(links);
      try {
        const inside = join(world.root, 'in');
        const before = [world.snapshot('out'), world.snapshot('in/a/denied')];
        const view = new FsStorage({ home: home.root }).contained({
          read: [inside],
          write: [inside],
          deny: [join(inside, 'a', 'denied')],
        });
        for (const { operation, path, to } of calls) {
          const outcome = await run(
            view,
            operation,
            `${world.root}/${path}`,
            `${world.root}/${to}`,
          ).then(
            (value) => ({ value }),
            (error: unknown) => ({ code: Reflect.get(Object(error), 'code') }),
          );
          expect(JSON.stringify(outcome)).not.toMatch(/SECRET|DENIED|only-there/);
          if ('code' in outcome) expect(outcome.code).toMatch(/^[A-Z_]+$/);
          expect([world.snapshot('out'), world.snapshot('in/a/denied')]).toEqual(before);
        }
      } finally {
        world.remove();
      }
    },
    { promised: 'reach', runs: { check: 30, long: 10_000 } },
  );
});
