import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import type { KeyValueWorld } from './key-value-world.js';

/** Counting, if the backend has `increment`. */
export function incrementTests(w: KeyValueWorld): void {
  describe('increment', () => {
    it('counts from 0, by 1 or by a step', async () => {
      const kv = w.fresh();
      if (!kv.increment) return;
      expect(await kv.increment('n')).toBe(1);
      expect(await kv.increment('n', 41)).toBe(42);
      expect(await kv.increment('n', -50)).toBe(-8);
      expect(await kv.get('n')).toBe('-8');
    });

    it('1,000 at once lose nothing, and each returns another number', async () => {
      const kv = w.fresh();
      const { increment } = kv;
      if (!increment) return;
      const results = await Promise.all(Array.from({ length: 1_000 }, () => increment('n')));
      expect(new Set(results).size).toBe(1_000);
      expect(await kv.get('n')).toBe('1000');
    });

    it('takes an expired value as absent', async () => {
      const kv = w.fresh();
      if (!kv.increment) return;
      await kv.set('n', '41', { ttlSeconds: 1 });
      w.now += 1_000;
      expect(await kv.increment('n')).toBe(1);
    });

    it('sets the TTL as set does', async () => {
      const kv = w.fresh();
      if (!kv.increment) return;
      await kv.increment('n', 1, { ttlSeconds: 1 });
      await kv.increment('kept', 1, { ttlSeconds: 1 });
      await kv.increment('kept');
      w.now += 1_000;
      expect([await kv.get('n'), await kv.get('kept')]).toEqual([null, '2']);
    });

    it.each(['', '1.5', 'many', '01', '9007199254740991'])(
      'refuses the current value %j, and leaves it',
      async (value) => {
        const kv = w.fresh();
        if (!kv.increment) return;
        await kv.set('n', value);
        expect(await codeOf(kv.increment('n'))).toBe('VALUE_INVALID');
        expect(await kv.get('n')).toBe(value);
      },
    );

    it.each([0.5, Number.NaN, Infinity, 2 ** 53])('refuses the step %s', async (by) => {
      const kv = w.fresh();
      if (!kv.increment) return;
      expect(await codeOf(kv.increment('n', by))).toBe('VALUE_INVALID');
      expect(await kv.get('n')).toBeNull();
    });
  });
}
