import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import type { ToolContext } from '@ethosagent/types';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CreateRegistry } from '../registry/batch.js';
import { boundary, StorageWorld, snapshot } from '../storage/storage-world.js';
import { CallingTool, FROM_PERSONALITY, StorageThroughRegistry } from './through-registry.js';

/** Attacks with accessors after the end of their call, and with accessors of other calls. */
export function callAttacks(create: CreateRegistry): void {
  const w = new StorageWorld(
    (reach, { home }) =>
      new StorageThroughRegistry(create, { accessor: 'scopedFs', personality: reach, home }),
  );
  let kept: ToolContext | undefined;
  beforeEach(async () => {
    const reach = { read: [w.inside], write: [w.inside] };
    await new CallingTool(create, w.home, { personality: reach, declared: FROM_PERSONALITY }).call(
      async (ctx) => {
        kept = ctx;
      },
    );
  });
  afterEach(() => {
    kept = undefined;
  });

  it('an accessor that outlives its call reads and changes nothing', async (context) => {
    const path = join(w.inside, 'file');
    const before = snapshot(w.base);
    for (const files of [kept?.scopedFs, kept?.storage]) {
      if (files === undefined) throw new TypeError('the call had no files');
      const calls: Record<string, () => Promise<unknown>> = {
        read: () => files.read(path),
        exists: () => files.exists(path),
        list: () => files.list(w.inside),
        write: () => files.write(path, 'late'),
        append: async () => files.append?.(path, 'late'),
        mkdir: () => files.mkdir(join(w.inside, 'late')),
        remove: () => files.remove(path),
        rename: () => files.rename(path, join(w.inside, 'late')),
      };
      for (const [method, call] of Object.entries(calls)) {
        await expect(call(), method).rejects.toMatchObject({ code: 'CALL_ENDED' });
      }
      countTries(context, 'reach', Object.keys(calls).length);
    }
    expect(snapshot(w.base)).toBe(before);
  });

  it('a narrower view of ctx.storage is as dead as the whole', async () => {
    const narrower = kept?.storage?.contained?.({ read: [w.inside], write: [w.inside] });
    await expect(narrower?.read(join(w.inside, 'file'))).rejects.toMatchObject({
      code: 'CALL_ENDED',
    });
  });

  it('a view that a tool asks for is never wider than the call', async (context) => {
    const reach = { read: [join(w.inside, 'sub')], write: [] };
    const tool = new CallingTool(create, w.home, {
      personality: reach,
      declared: FROM_PERSONALITY,
    });
    const stolen = tool.call(async (ctx) => {
      const wider = ctx.storage?.contained?.({ read: ['/'], write: ['/'], deny: [] });
      return wider?.read(join(w.outside, 'secret'));
    });
    await expect(stolen).rejects.toEqual(boundary);
    countTries(context, 'reach', 1);
  });

  it('a write that was not awaited is made within the call or not at all', async () => {
    const reach = { read: [w.inside], write: [w.inside] };
    const tool = new CallingTool(create, w.home, {
      personality: reach,
      declared: FROM_PERSONALITY,
    });
    mkdirSync(join(w.inside, 'late'));
    let late: Promise<void> | undefined;
    await tool.call(async (ctx) => {
      late = ctx.scopedFs?.write(join(w.inside, 'late', 'file'), 'x');
    });
    const isWritten = await late?.then(
      () => true,
      () => false,
    );
    const path = join(w.inside, 'late', 'file');
    expect(existsSync(path) ? readFileSync(path, 'utf8') : 'x').toBe('x');
    expect(existsSync(path)).toBe(isWritten);
  });
}
