import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KeyValueWorld } from './key-value-world.js';
import { byBytes, TEXT } from './texts.js';

/** A model of the whole contract, compared over sequences of calls. */
export function anyCallsTests(w: KeyValueWorld): void {
  it('any sequence of calls does what a plain map with expiry times does', async () => {
    const key = fc.constantFrom('a', 'ab', 'A', '%', 'a\0', '😀');
    const ttlSeconds = fc.option(fc.constantFrom(1, 2, 5), { nil: undefined });
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), key, value: TEXT, ttlSeconds }),
      fc.record({ do: fc.constant('delete' as const), key }),
      fc.record({ do: fc.constant('get' as const), key }),
      fc.record({ do: fc.constant('list' as const), key }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(500, 1_000, 3_000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const kv = w.fresh();
        const model = new Map<string, { value: string; expiresAt: number }>();
        const live = (k: string) => ((model.get(k)?.expiresAt ?? 0) > w.now ? model.get(k) : null);
        for (const taken of steps) {
          if (taken.do === 'wait') w.now += taken.ms;
          if (taken.do === 'delete') {
            await kv.delete(taken.key);
            model.delete(taken.key);
          }
          if (taken.do === 'set') {
            const { key, value, ttlSeconds } = taken;
            await kv.set(key, value, ttlSeconds === undefined ? {} : { ttlSeconds });
            model.set(key, { value, expiresAt: w.now + (ttlSeconds ?? Infinity) * 1_000 });
          }
          if (taken.do === 'get') {
            expect(await kv.get(taken.key)).toBe(live(taken.key)?.value ?? null);
          }
          if (taken.do === 'list') {
            const keys = [...model.keys()].filter((k) => live(k) && k.startsWith(taken.key));
            expect(await kv.list(taken.key)).toEqual(keys.sort(byBytes));
          }
        }
      }),
    );
  });
}
