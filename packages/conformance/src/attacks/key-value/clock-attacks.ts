import { countTries } from '@ethosagent/test-support';
import type { KeyValueStore } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';

/** The clock of a store under attack, in milliseconds since the epoch. */
export interface MovableClock {
  now: number;
}

/** Attacks with clocks that jump, and with extreme times to live. */
export function clockAttacks(fresh: (id: string) => KeyValueStore, clock: MovableClock): void {
  describe('while the clock jumps', () => {
    let run = 0;
    const jump = fc.constantFrom(-86_400_000, -60_000, -1, 0, 1, 500, 999, 1_000, 60_000, 1e12);
    const ttl = fc.option(fc.constantFrom(0.001, 0.5, 1, 60, 86_400), { nil: undefined });
    const key = fc.constantFrom('a', 'ab', 'b');
    fuzz(
      'never gives back, nor lists, what was found expired once',
      fc.array(fc.record({ jump, key, ttl, method: fc.constantFrom('set', 'get', 'list') }), {
        maxLength: 30,
      }),
      async (steps) => {
        run += 1;
        clock.now = 1_700_000_000_000;
        const kv = fresh(`jumps:${run}`);
        const model = new Map<string, { expiresAt: number; mayBeGone: boolean }>();
        const expired = () => [...model].filter(([, { expiresAt }]) => expiresAt <= clock.now);
        for (const { jump, key, ttl, method } of steps) {
          clock.now = Math.max(1, clock.now + jump);
          if (method === 'set') {
            await kv.set(key, 'v', ttl === undefined ? {} : { ttlSeconds: ttl });
            // A store may remove what has expired with any write. No call has told yet whether it did.
            for (const [, entry] of expired()) entry.mayBeGone = true;
            const expiresAt = ttl === undefined ? Infinity : clock.now + ttl * 1_000;
            model.set(key, { expiresAt, mayBeGone: false });
            continue;
          }
          for (const [name] of expired()) if (method === 'list' || name === key) model.delete(name);
          const asked = method === 'list' ? [...model.keys()] : [key];
          let found: string[] = [];
          if (method === 'list') {
            found = await kv.list('');
          } else {
            const value = await kv.get(key);
            expect(['v', null]).toContain(value);
            if (value !== null) found = [key];
          }
          // What was told to be gone must stay so.
          for (const name of asked) {
            if (model.get(name)?.mayBeGone && !found.includes(name)) model.delete(name);
          }
          expect(found).toEqual(asked.filter((name) => model.has(name)).sort());
        }
      },
      {
        promised: 'key-value',
        runs: { check: 40, long: 20_000 },
        corpus: [
          // A write in between, when the first key has expired.
          [
            { jump: 0, key: 'b', ttl: 1, method: 'set' },
            { jump: 1_000, key: 'ab', ttl: 86_400, method: 'set' },
            { jump: -60_000, key: 'a', ttl: undefined, method: 'list' },
            { jump: 0, key: 'b', ttl: undefined, method: 'get' },
          ],
        ],
      },
    );

    it.for([Number.NaN, 0, -0, -1, -0.001, Infinity, -Infinity, 1e300, Number.MAX_VALUE])(
      'refuses a time to live of %s for a key that is there, and leaves it',
      async (ttlSeconds, context) => {
        const kv = fresh(`ttl:${ttlSeconds}`);
        await kv.set('k', 'kept');
        await expect(kv.set('k', 'lost', { ttlSeconds })).rejects.toMatchObject({
          code: 'TTL_INVALID',
        });
        clock.now += 1e12;
        expect(await kv.get('k')).toBe('kept');
        clock.now -= 1e12;
        countTries(context, 'key-value', 1);
      },
    );
  });
}
