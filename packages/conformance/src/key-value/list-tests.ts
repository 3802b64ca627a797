import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyValueWorld } from './key-value-world.js';
import { byBytes, TEXT } from './texts.js';

/** Which keys a prefix lists, and in which order. */
export function listTests(w: KeyValueWorld): void {
  describe('list', () => {
    it.each(['%', '_', '*', '?', '[', 'user:', 'USER:', '\0', "'", '\\', '😀'])(
      'list(%j) takes the prefix literally',
      async (prefix) => {
        const kv = w.fresh();
        const keys = ['%', '_', '*', '?', '[', "'", '\\', '\0', '😀'].flatMap((c) => [c, `${c}1`]);
        keys.push('user:1', 'USER:2', 'user%', 'user_x', 'user', 'x%', 'a', '😁');
        await Promise.all(keys.map((key) => kv.set(key, 'v')));
        expect(await kv.list(prefix)).toEqual(
          keys.filter((key) => key.startsWith(prefix)).sort(byBytes),
        );
      },
    );

    it('list takes a prefix of 60,000 characters', async () => {
      const kv = w.fresh();
      const prefix = '\u{10ffff}'.repeat(30_000);
      await kv.set(prefix, 'exact');
      await kv.set(`${prefix}x`, 'longer');
      await kv.set(prefix.slice(2), 'shorter');
      expect(await kv.list(prefix)).toEqual([prefix, `${prefix}x`]);
    });

    it('list equals a filter, in code point order, for any keys and prefix', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(TEXT, { maxLength: 20 }), TEXT, async (keys, prefix) => {
          const kv = w.fresh();
          await Promise.all(keys.map((key) => kv.set(key, 'v')));
          expect(await kv.list(prefix)).toEqual(
            keys.filter((key) => key.startsWith(prefix)).sort(byBytes),
          );
        }),
      );
    });
  });
}
