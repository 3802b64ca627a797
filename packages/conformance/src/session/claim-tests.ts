import type { SessionStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** Returns the methods for claims; `undefined` if the store can't hold sessions. */
function claimsOf(store: SessionStore) {
  const { claim, renew, release } = store;
  if (claim === undefined || renew === undefined || release === undefined) return undefined;
  return {
    claim: claim.bind(store),
    renew: renew.bind(store),
    release: release.bind(store),
  };
}

/** Who may append while one owner holds a session, and for how long that owner holds it. */
export function claimTests(w: SessionWorld): void {
  describe('claim', () => {
    it('is for one owner at once, with a greater epoch each time', async () => {
      const claims = claimsOf(w.store);
      if (claims === undefined) return;
      const session = w.fresh();
      const taken = await Promise.all(
        Array.from({ length: 5 }, () => claims.claim(session, { leaseMs: 1_000 })),
      );
      const [first, ...others] = taken.filter((claim) => claim !== null);
      expect(others).toEqual([]);
      expect(first).toMatchObject({ sessionId: session.id });
      w.now += 999;
      expect(await claims.claim(session, { leaseMs: 1_000 })).toBeNull();
      w.now += 1;
      const second = await claims.claim(session, { leaseMs: 1_000 });
      expect(second?.epoch).toBeGreaterThan(first?.epoch ?? Number.POSITIVE_INFINITY);
      await w.store.append(session, [user('a')], { epoch: second?.epoch ?? 0 });
      await w.store.delete(session.id);
      const third = await claims.claim(session, { leaseMs: 1_000 });
      expect(third?.epoch).toBeGreaterThan(second?.epoch ?? Number.POSITIVE_INFINITY);
    });

    it('of a session without a message makes none that is listed', async () => {
      const claims = claimsOf(w.store);
      if (claims === undefined) return;
      const session = w.fresh();
      await claims.claim(session, { leaseMs: 1_000 });
      expect(await w.store.get(session.id)).toBeNull();
      expect(await w.store.list({ owner: ownerOf(session) })).toEqual([]);
      expect(await w.store.delete(session.id)).toBe(false);
      const claim = await claims.claim(session, { leaseMs: 1_000 });
      const early = w.now - 100;
      await w.store.append(session, [user('a', early)], {
        epoch: claim?.epoch ?? 0,
        afterSequence: 0,
      });
      expect(await w.store.get(session.id)).toMatchObject({
        startedAt: early,
        lastMessageAt: early,
        messageCount: 1,
      });
    });

    it('is not for another owner of the session', async () => {
      const claims = claimsOf(w.store);
      if (claims === undefined) return;
      const session = w.fresh();
      await w.store.append(session, [user('a')]);
      const call = claims.claim({ ...session, scopeId: 'other' }, { leaseMs: 1_000 });
      expect(await codeOf(call)).toBe('SESSION_OWNER_MISMATCH');
      expect(await claims.claim(session, { leaseMs: 1_000 })).not.toBeNull();
    });

    it('refuses what others append, unless it is an aside', async () => {
      const claims = claimsOf(w.store);
      if (claims === undefined) return;
      const session = w.fresh();
      const late = await claims.claim(session, { leaseMs: 1_000 });
      w.now += 1_000;
      const append = (opts: Parameters<SessionStore['append']>[2]) =>
        codeOf(w.store.append(session, [user('a')], opts));
      // Nobody has taken the session, but the lease has ended.
      expect(await append({ epoch: late?.epoch ?? 0 })).toBe('SESSION_TAKEN');
      const live = await claims.claim(session, { leaseMs: 1_000 });
      expect(await append({ epoch: late?.epoch ?? 0 })).toBe('SESSION_TAKEN');
      expect(await append({ epoch: late?.epoch ?? 0, aside: true })).toBe('SESSION_TAKEN');
      expect(await append({ epoch: 0 })).toBe('SESSION_TAKEN');
      expect(await append({})).toBe('SESSION_TAKEN');
      expect(await append({ afterSequence: 0 })).toBe('SESSION_TAKEN');
      expect(await w.store.messages(session.id)).toEqual([]);
      expect(await append({ epoch: live?.epoch ?? 0, afterSequence: 0 })).toBe('done');
      expect(await append({ aside: true, afterSequence: 1 })).toBe('done');
      w.now += 1_000;
      expect(await append({ afterSequence: 2 })).toBe('done');
      expect(await w.store.messages(session.id)).toHaveLength(3);
    });

    it('ends when it is released, and is renewed only while it holds', async () => {
      const claims = claimsOf(w.store);
      if (claims === undefined) return;
      const [one, other] = [w.fresh(), w.fresh()];
      const a = await claims.claim(one, { leaseMs: 1_000 });
      const b = await claims.claim(other, { leaseMs: 1_000 });
      if (a === null || b === null) throw new Error('there is a claim already');
      const stale = { ...b, epoch: b.epoch - 1 };
      w.now += 900;
      const held = await claims.renew([a, b, stale], { leaseMs: 1_000 });
      expect(held.sort((x, y) => x.epoch - y.epoch)).toEqual([a, b]);
      w.now += 900;
      expect(await claims.claim(one, { leaseMs: 1_000 })).toBeNull();
      await claims.release(stale);
      expect(await claims.renew([b], { leaseMs: 1_000 })).toEqual([b]);
      await claims.release(a);
      expect(await claims.renew([a], { leaseMs: 1_000 })).toEqual([]);
      expect(await codeOf(w.store.append(one, [user('x')], { epoch: a.epoch }))).toBe(
        'SESSION_TAKEN',
      );
      expect(await claims.claim(one, { leaseMs: 1_000 })).not.toBeNull();
      w.now += 1_000;
      expect(await claims.renew([b], { leaseMs: 1_000 })).toEqual([]);
      for (const leaseMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(await codeOf(claims.claim(other, { leaseMs }))).toBe('VALUE_INVALID');
      }
    });
  });
}
