import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import type { ContainedReach, Storage, ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { CreateRegistry } from '../registry/batch.js';
import { boundary, everyCall, type StorageWorld } from '../storage/storage-world.js';
import { CallingTool, type FileAccessor, FROM_PERSONALITY } from './through-registry.js';

/** Attacks with declarations that a personality limits, in different combinations. */
export function declarationAttacks(
  w: StorageWorld,
  create: CreateRegistry,
  accessor: FileAccessor,
): void {
  const toolWith = (declared: ToolCapabilities['fs_reach'], personality?: ContainedReach) =>
    new CallingTool(create, w.home, { personality, declared });
  const read = (tool: CallingTool, path: string) =>
    tool.call(async (ctx): Promise<unknown> => {
      const files: Pick<Storage, 'read'> | undefined = ctx[accessor];
      return files === undefined ? 'absent' : files.read(path);
    });

  describe('for a tool that declares', () => {
    it.for<[string, () => ToolCapabilities['fs_reach'], () => string[], () => string]>([
      [
        'a way out by ..',
        () => ({ read: [`${w.inside}/../database`] }),
        () => [w.inside],
        () => join(w.outside, 'secret'),
      ],
      [
        'a way out by .., asked as it was declared',
        () => ({ read: [`${w.inside}/../database`] }),
        () => [w.inside],
        () => `${w.inside}/../database/secret`,
      ],
      [
        'more than its personality has',
        () => ({ read: [w.base] }),
        () => [w.inside],
        () => join(w.outside, 'secret'),
      ],
      ['the root', () => ({ read: ['/'] }), () => [w.inside], () => join(w.outside, 'secret')],
      [
        'less than its personality has',
        () => ({ read: [join(w.inside, 'sub')] }),
        () => [w.base],
        () => join(w.inside, 'file'),
      ],
      [
        'something else than its personality has',
        () => ({ read: [w.outside] }),
        () => [w.inside],
        () => join(w.outside, 'secret'),
      ],
      ['a relative path', () => ({ read: ['data'] }), () => [w.inside], () => 'data/file'],
      ['nothing', () => ({ read: [] }), () => [w.base], () => join(w.inside, 'file')],
      [
        'to write only',
        () => ({ write: [w.inside] }),
        () => [w.base],
        () => join(w.inside, 'file'),
      ],
      [
        'what its personality has, which is nothing',
        () => FROM_PERSONALITY,
        () => [],
        () => join(w.inside, 'file'),
      ],
      [
        'what its personality has, which is malformed',
        () => FROM_PERSONALITY,
        () => ['data', `${w.inside}/../database`, `${w.inside}\0`, ''],
        () => join(w.outside, 'secret'),
      ],
    ])('%s: what is outside of both stays there', async ([, declared, allowed, path], context) => {
      const tool = toolWith(declared(), { read: allowed(), write: allowed() });
      await expect(read(tool, path())).rejects.toEqual(boundary);
      countTries(context, 'reach', 1);
    });

    it('a link in its own path is followed within the personality’s reach only', async (context) => {
      symlinkSync(w.outside, join(w.inside, 'link'));
      const reach = { read: [w.inside], write: [w.inside] };
      const tool = toolWith({ read: [join(w.inside, 'link')] }, reach);
      await expect(read(tool, join(w.inside, 'link', 'secret'))).rejects.toEqual(boundary);
      countTries(context, 'reach', 1);
    });

    it('anything, for a personality that nobody knows: nothing is reachable', async (context) => {
      const path = join(w.inside, 'file');
      for (const declared of [FROM_PERSONALITY, { read: [w.inside] }]) {
        await expect(read(toolWith(declared), path)).rejects.toEqual(boundary);
      }
      countTries(context, 'reach', 2);
    });

    it('no files: it has none', async () => {
      const tool = toolWith(undefined, { read: [w.inside], write: [w.inside] });
      expect(await read(tool, join(w.inside, 'file'))).toBe('absent');
    });

    it('what both allow: it is there', async () => {
      const reach = { read: [w.base], write: [w.base] };
      expect(await read(toolWith({ read: [w.inside] }, reach), join(w.inside, 'file'))).toBe(
        'hello',
      );
      expect(await read(toolWith(FROM_PERSONALITY, reach), join(w.inside, 'file'))).toBe('hello');
    });
  });

  describe('for relative paths', () => {
    it.for(['package.json', './package.json', '../package.json', '.', ''])(
      '%j of the process’s own folder is outside',
      async (path, context) => {
        const tool = toolWith(FROM_PERSONALITY, { read: [w.inside], write: [w.inside] });
        await expect(read(tool, path)).rejects.toHaveProperty('code');
        countTries(context, 'reach', 1);
      },
    );
  });

  it('a denial says nothing of what is outside', async (context) => {
    symlinkSync(join(w.outside, 'secret'), join(w.inside, 'leaf'));
    symlinkSync(w.outside, join(w.inside, 'folder'));
    symlinkSync('loop', join(w.inside, 'loop'));
    writeFileSync(join(w.inside, 'plain'), '');
    const names = ['leaf', 'folder/secret', 'folder/none', 'loop', 'loop/x', 'plain/x', 'folder'];
    for (const asked of names) {
      for (const call of Object.values(everyCall(w.view, join(w.inside, asked), w.inside))) {
        const error: unknown = await call().catch((reason: unknown) => reason);
        const texts = [Object(error).message, Object(error).stack?.split('\n')[0]].map(String);
        // The names of temporary files are internal to the storage, and no text may contain a path
        // outside the reach.
        for (const text of texts) expect(text.replaceAll(w.inside, '')).not.toContain(w.base);
      }
    }
    countTries(context, 'reach', names.length);
  });
}
