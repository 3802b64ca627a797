import { countTries, tries } from '@ethosagent/test-support';
import type { KeyValueStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';

/** Attacks with very many and very large operations at the same time. */
export function floodAttacks(fresh: (id: string) => KeyValueStore): void {
  const writes = tries({ check: 1_000, long: 100_000 });

  describe('flooded', () => {
    it(`${writes} writes, reads and listings at once are all answered, and right`, async (context) => {
      const stores = Array.from({ length: 10 }, (_, index) => fresh(`flood:${index}`));
      await Promise.all(
        Array.from({ length: writes }, async (_, index) => {
          const kv = stores[index % stores.length];
          const key = `k${index}`;
          await kv?.set(key, `${index}`);
          expect(await kv?.get(key)).toBe(`${index}`);
        }),
      );
      for (const kv of stores) expect(await kv.list('k')).toHaveLength(writes / stores.length);
      countTries(context, 'key-value', writes);
    });

    it('refused writes among many take none of the others with them', async (context) => {
      const kv = fresh('refused');
      const outcomes = await Promise.allSettled(
        Array.from({ length: 1_000 }, (_, index) =>
          index % 3 === 0
            ? kv.set('\ud800', 'x')
            : kv.set(`k${index}`, index % 5 === 0 ? '\udc00' : 'v'),
        ),
      );
      const written = outcomes.flatMap(({ status }, index) =>
        status === 'fulfilled' ? [`k${index}`] : [],
      );
      expect(written).toEqual(
        outcomes.flatMap((_, index) => (index % 3 === 0 || index % 5 === 0 ? [] : [`k${index}`])),
      );
      expect(await kv.list('')).toEqual(written.sort());
      countTries(context, 'key-value', outcomes.length);
    });
  });
}
