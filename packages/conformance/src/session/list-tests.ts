import { describe, expect, it } from 'vitest';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** How sessions are listed: by owner and by time. */
export function listTests(w: SessionWorld): void {
  describe('list', () => {
    it('gives the sessions of an owner, the most recent first', async () => {
      const { scopeId } = w.fresh();
      for (const [id, at] of [
        ['one', 1_000],
        ['two', 3_000],
        ['three', 2_000],
      ] as const) {
        await w.store.append({ id: `${scopeId}${id}`, scopeId }, [user('x', at)]);
      }
      const ids = async (opts: object) =>
        (await w.store.list({ owner: { scopeId }, ...opts })).map(({ id }) =>
          id.slice(scopeId.length),
        );
      expect(await ids({})).toEqual(['two', 'three', 'one']);
      expect(await ids({ limit: 1 })).toEqual(['two']);
      expect(await ids({ since: 2_000 })).toEqual(['two', 'three']);
      expect(await ids({ since: 1_000, until: 2_000 })).toEqual(['one']);
      expect((await w.store.list()).length).toBeGreaterThanOrEqual(3);
    });

    it.each([
      [{ since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }, 1],
      [{ since: -1e300, until: 1e300 }, 1],
      [{ since: 999.5, until: 1_000.5 }, 1],
      [{ since: 1_000.5 }, 0],
      [{ until: 999.5 }, 0],
      [{ since: Number.POSITIVE_INFINITY }, 0],
      [{ until: Number.NEGATIVE_INFINITY }, 0],
    ])('takes any times: %j', async (times, found) => {
      const session = w.fresh();
      const owner = ownerOf(session);
      await w.store.append(session, [user('word', 1_000)]);
      expect(await w.store.list({ owner, ...times })).toHaveLength(found);
      expect(await w.store.search('word', { owner, ...times })).toHaveLength(found);
    });

    it('by time looks at the messages, not at the ends of a session', async () => {
      const session = w.fresh();
      await w.store.append(session, [user('a', 1_000), user('b', 9_000)]);
      const owner = ownerOf(session);
      expect(await w.store.list({ owner, since: 2_000, until: 8_000 })).toEqual([]);
      expect(await w.store.list({ owner, since: 9_000, until: 9_001 })).toHaveLength(1);
    });
  });
}
