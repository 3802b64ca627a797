import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { describe, expect, it, type TestContext } from 'vitest';
import { inEmptyFolder } from '../../in-empty-folder.js';
import {
  boundary,
  everyCall,
  expectDenied,
  readingCalls,
  type StorageWorld,
  snapshot,
} from '../storage/storage-world.js';

/** Attacks with invalid names, and with paths whose text leads out of the reach. */
export function nameAttacks(w: StorageWorld): void {
  describe('for a name that can not be', () => {
    const expectRefused = async (context: TestContext, path: string) => {
      const before = snapshot(w.base);
      const calls = Object.entries(everyCall(w.view, path, w.inside));
      for (const [method, call] of calls) {
        const error: unknown = await call().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(errorCodeOf(error), method).toMatch(/^PATH_(?:INVALID|NOT_REACHABLE)$/);
      }
      expect(snapshot(w.base)).toBe(before);
      countTries(context, 'reach', calls.length);
    };

    it('refuses every method for an empty one, with a typed error', (context) =>
      inEmptyFolder(context, () => expectRefused(context, '')));

    it.for<[string, string]>([
      ['a NUL', 'a\0b'],
      ['a NUL at the end', 'file\0'],
      ['5,000 characters', 'x'.repeat(5_000)],
      ['5,000 segments', 'x/'.repeat(5_000)],
      ['a lone high surrogate', 'a\ud800'],
      ['a lone low surrogate', '\udfffa'],
    ])('refuses every method for %s, with a typed error', ([, name], context) =>
      expectRefused(context, `${w.inside}/${name}`),
    );

    it('refuses what is no string', async () => {
      const nothing: unknown[] = [
        undefined,
        null,
        7,
        {},
        [w.inside],
        new URL('file:///etc/passwd'),
      ];
      for (const path of nothing) {
        const text = Object(path);
        const reading = Reflect.apply(w.view.read, w.view, [text]);
        await expect(reading).rejects.toHaveProperty('code');
      }
    });
  });

  describe('for honest names', () => {
    it.for([
      'file',
      '/file',
      './file',
      './/.//file',
      'sub/../file',
      'sub/./../sub/../file',
      'none/../file',
    ])('reads %s', async (rest) => {
      expect(await w.view.read(`${w.inside}/${rest}`)).toBe('hello');
    });

    it.for([
      '…',
      '...',
      '..file',
      'a b',
      'ü',
      'e\u0301',
      '%2e%2e',
      '~',
      '*',
      '-rf',
      '\\..\\x',
      '\n',
      '🦊',
    ])('writes, lists, reads and removes %j', async (odd) => {
      const path = join(w.inside, odd);
      await w.view.write(path, odd);
      expect(await w.view.list(w.inside)).toContain(odd);
      expect(await w.view.read(path)).toBe(odd);
      await w.view.remove(path);
      expect(existsSync(path)).toBe(false);
    });

    it.for(['', '/', '//', '/.', '/sub/..'])('lists the root with %j at its end', async (tail) => {
      expect(await w.view.list(`${w.inside}${tail}`)).toEqual(['file', 'sub']);
    });
  });
}

/** Attacks with paths at the borders of a reach. */
export function prefixAttacks(w: StorageWorld): void {
  describe('for a reach and what begins like it', () => {
    it.for<[string, string, boolean]>([
      ['data', 'data/file', true],
      ['data/', 'data/file', true],
      ['data//', 'data/file', true],
      ['data', 'database/secret', false],
      ['data/', 'database/secret', false],
      ['data/sub', 'data/file', false],
      ['data/sub', 'data/sub/file', true],
      ['data/su', 'data/sub/file', false],
      ['data/file', 'data/file', true],
      ['data/fil', 'data/file', false],
    ])('%j covers %j: %s', async ([root, asked, isCovered], context) => {
      const view = w.create({ read: [`${w.base}/${root}`], write: [] });
      const reading = view.read(join(w.base, asked));
      if (isCovered) expect(await reading).not.toBeNull();
      else await expect(reading).rejects.toEqual(boundary);
      countTries(context, 'reach', 1);
    });

    it('what may be read may not be written, nor what may be written be read', async (context) => {
      const view = w.create({ read: [join(w.inside, 'file')], write: [join(w.inside, 'sub')] });
      const calls = everyCall(view, join(w.inside, 'file'), join(w.inside, 'sub'));
      const writing = Object.entries(calls).filter(([method]) =>
        ['write', 'append', 'mkdir', 'remove', 'removeRecursive', 'renameFrom'].includes(method),
      );
      await expectDenied(context, Object.fromEntries(writing));
      await expectDenied(context, readingCalls(view, join(w.inside, 'sub', 'file')));
      expect(await view.read(join(w.inside, 'file'))).toBe('hello');
      await view.write(join(w.inside, 'sub', 'file'), 'x');
    });
  });
}
