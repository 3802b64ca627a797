import { describe, expect, it } from 'vitest';
import type { KeyValueWorld } from './key-value-world.js';

/** Writing over an expected value, if the backend has `compareAndSet`. */
export function compareAndSetTests(w: KeyValueWorld): void {
  describe('compareAndSet', () => {
    it('writes only over the expected value', async () => {
      const kv = w.fresh();
      if (!kv.compareAndSet) return;
      expect(await kv.compareAndSet('k', 'x', 'no')).toBe(false);
      expect(await kv.get('k')).toBeNull();
      expect(await kv.compareAndSet('k', null, 'a')).toBe(true);
      expect(await kv.compareAndSet('k', null, 'no')).toBe(false);
      expect(await kv.compareAndSet('k', 'a', 'b')).toBe(true);
      expect(await kv.get('k')).toBe('b');
    });

    it('of many at once one succeeds', async () => {
      const kv = w.fresh();
      const { compareAndSet } = kv;
      if (!compareAndSet) return;
      const wins = await Promise.all(
        Array.from({ length: 100 }, (_, i) => compareAndSet('k', null, String(i))),
      );
      expect(wins.filter(Boolean)).toHaveLength(1);
      expect(await kv.get('k')).toBe(String(wins.indexOf(true)));
    });

    it('takes an expired value as absent, and sets the TTL as set does', async () => {
      const kv = w.fresh();
      if (!kv.compareAndSet) return;
      await kv.set('k', 'a', { ttlSeconds: 1 });
      w.now += 1_000;
      expect(await kv.compareAndSet('k', 'a', 'b')).toBe(false);
      expect(await kv.compareAndSet('k', null, 'b', { ttlSeconds: 1 })).toBe(true);
      w.now += 1_000;
      expect(await kv.get('k')).toBeNull();
    });
  });
}
