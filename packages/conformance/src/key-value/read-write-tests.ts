import { describe, expect, it } from 'vitest';
import type { KeyValueWorld } from './key-value-world.js';
import { NASTY_TEXTS } from './texts.js';

/** What is read after it was written or deleted. */
export function readWriteTests(w: KeyValueWorld): void {
  describe('get, set and delete', () => {
    it('get returns null for a key that is absent', async () => {
      expect(await w.fresh().get('absent')).toBeNull();
    });

    it.each(NASTY_TEXTS)('get returns what set wrote, key and value %j', async (text) => {
      const kv = w.fresh();
      await kv.set(text, text);
      expect(await kv.get(text)).toBe(text);
      expect(await kv.list('')).toEqual([text]);
    });

    it('set replaces a value', async () => {
      const kv = w.fresh();
      await kv.set('k', 'one');
      await kv.set('k', 'two');
      expect(await kv.get('k')).toBe('two');
      expect(await kv.list('')).toEqual(['k']);
    });

    it('delete removes a key, and does nothing when it is absent', async () => {
      const kv = w.fresh();
      await kv.set('k', 'v');
      await kv.delete('k');
      await kv.delete('k');
      expect(await kv.get('k')).toBeNull();
      expect(await kv.list('')).toEqual([]);
    });

    it('keys differ by case and by Unicode normalisation', async () => {
      const kv = w.fresh();
      for (const key of ['e\u0301', '\u00e9', 'E\u0301', 'K', 'k']) await kv.set(key, key);
      for (const key of ['e\u0301', '\u00e9', 'E\u0301', 'K', 'k']) {
        expect(await kv.get(key)).toBe(key);
      }
    });

    it('a read sees the writes that were asked for before it', async () => {
      const kv = w.fresh();
      const settled = [kv.set('a', '1'), kv.set('a', '2'), kv.set('b', '1'), kv.delete('b')];
      const reads = Promise.all([kv.get('a'), kv.get('b'), kv.list('')]);
      const later = kv.set('a', '3');
      expect(await reads).toEqual(['2', null, ['a']]);
      await Promise.all([...settled, later]);
      expect(await kv.get('a')).toBe('3');
    });

    it('one refused write of many fails alone', async () => {
      const kv = w.fresh();
      const outcomes = await Promise.allSettled([
        kv.set('a', '1'),
        kv.set('b', '\ud800'),
        kv.set('c', '3'),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await kv.list('')).toEqual(['a', 'c']);
    });
  });
}
