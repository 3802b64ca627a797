import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import type { KeyValueWorld } from './key-value-world.js';

/** How long an entry lives. */
export function timeToLiveTests(w: KeyValueWorld): void {
  describe('ttlSeconds', () => {
    it('an entry lives until its TTL is over, and not a moment longer', async () => {
      const kv = w.fresh();
      await kv.set('k', 'v', { ttlSeconds: 10 });
      w.now += 9_999;
      expect([await kv.get('k'), await kv.list('')]).toEqual(['v', ['k']]);
      w.now += 1;
      expect([await kv.get('k'), await kv.list('')]).toEqual([null, []]);
    });

    it('a second set without a TTL lifts the first', async () => {
      const kv = w.fresh();
      await kv.set('k', 'v', { ttlSeconds: 10 });
      await kv.set('k', 'v');
      w.now += 1e9;
      expect(await kv.get('k')).toBe('v');
    });

    it('a second set with a TTL counts anew', async () => {
      const kv = w.fresh();
      await kv.set('k', 'v', { ttlSeconds: 10 });
      w.now += 9_000;
      await kv.set('k', 'v', { ttlSeconds: 10 });
      w.now += 9_000;
      expect(await kv.get('k')).toBe('v');
      w.now += 1_000;
      expect(await kv.get('k')).toBeNull();
    });

    it('an expired key can be set again', async () => {
      const kv = w.fresh();
      await kv.set('k', 'old', { ttlSeconds: 1 });
      w.now += 1_000;
      await kv.set('k', 'new');
      expect(await kv.get('k')).toBe('new');
    });

    it.each(['get', 'list'] as const)(
      'a key that %s found expired stays absent when the clock is set back',
      async (method) => {
        const kv = w.fresh();
        await kv.set('k', 'v', { ttlSeconds: 10 });
        w.now += 10_000;
        await kv[method]('k');
        w.now -= 10_000;
        expect([await kv.get('k'), await kv.list('')]).toEqual([null, []]);
        w.now += 10_000;
      },
    );

    it.each([0.0001, 0.0004, Number.MIN_VALUE])('%s rounds up to a millisecond', async (ttl) => {
      const kv = w.fresh();
      await kv.set('k', 'v', { ttlSeconds: ttl });
      expect(await kv.get('k')).toBe('v');
      w.now += 1;
      expect(await kv.get('k')).toBeNull();
    });

    it.each([Number.NaN, 0, -0, -1, Infinity, -Infinity, 1e300])(
      'refuses %s, and writes nothing',
      async (ttlSeconds) => {
        const kv = w.fresh();
        expect(await codeOf(kv.set('k', 'v', { ttlSeconds }))).toBe('TTL_INVALID');
        for (const [method, args] of [
          ['increment', [1]],
          ['compareAndSet', [null, 'v']],
        ] as const) {
          const call = kv[method];
          if (!call) continue;
          const refused = Reflect.apply(call, kv, ['k', ...args, { ttlSeconds }]);
          expect(await codeOf(refused), method).toBe('TTL_INVALID');
        }
        expect(await kv.list('')).toEqual([]);
      },
    );

    it.each(['10', null, true, {}, 1n])('refuses %s, which is no number', async (ttlSeconds) => {
      const kv = w.fresh();
      const set = Reflect.apply(kv.set, kv, ['k', 'v', { ttlSeconds }]);
      expect(await codeOf(set)).toBe('TTL_INVALID');
      expect(await kv.get('k')).toBeNull();
    });
  });
}
