import type { SessionOwner } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { HOSTILE_IDS } from '../hostile-ids.js';
import { type SessionWorld, user } from './session-world.js';

/** No owner sees the sessions of another, whatever the ids are. */
export function ownerTests(w: SessionWorld): void {
  describe('owners', () => {
    const owners: SessionOwner[] = [
      { scopeId: 'shared' },
      { scopeId: 'Shared' },
      { scopeId: 'shared ' },
      { scopeId: 'shared', userScopeId: 'u' },
      { scopeId: 'shared', userScopeId: '' },
      { scopeId: 'shared', teamId: 'u' },
      { scopeId: 'shared', userScopeId: 'u', teamId: 't' },
      ...HOSTILE_IDS.map((scopeId) => ({ scopeId: `shared:${scopeId}` })),
      ...HOSTILE_IDS.map((userScopeId) => ({ scopeId: 'by-user', userScopeId })),
    ];

    it('see their own sessions and no others, whatever their ids are', async () => {
      for (const [index, owner] of owners.entries()) {
        await w.store.append({ id: `owned-${index}`, ...owner }, [user(`secretword ${index}`)]);
      }
      for (const [index, owner] of owners.entries()) {
        const found = await w.store.search('secretword', { owner });
        expect(found.map(({ session }) => session.id)).toEqual([`owned-${index}`]);
        expect(found[0]?.session).toMatchObject(owner);
        const listed = await w.store.list({ owner });
        expect(listed.map(({ id }) => id)).toEqual([`owned-${index}`]);
        const other = `owned-${(index + 1) % owners.length}`;
        expect(await w.store.search('secretword', { owner, sessionId: other })).toEqual([]);
      }
      expect(await w.store.search('secretword', { owner: { scopeId: 'unknown' } })).toEqual([]);
    });

    it('and sessions may have any id', async () => {
      for (const [index, id] of HOSTILE_IDS.entries()) {
        await w.store.append({ id, scopeId: 'any-id' }, [user(`anyid ${index}`)]);
      }
      for (const [index, id] of HOSTILE_IDS.entries()) {
        expect(await w.store.messages(id)).toMatchObject([{ text: `anyid ${index}` }]);
        const found = await w.store.search('anyid', { sessionId: id });
        expect(found).toMatchObject([{ session: { id }, message: { text: `anyid ${index}` } }]);
      }
    });

    it.each(['\ud800', 'a\udc00'])(
      'of the id %j, which no store keeps, are KEY_INVALID',
      async (id) => {
        const message = [user('x')];
        for (const call of [
          w.store.append({ id, scopeId: 'a' }, message),
          w.store.append({ id: w.fresh().id, scopeId: id }, message),
          w.store.append({ id: w.fresh().id, scopeId: 'a', userScopeId: id }, message),
          w.store.get(id),
          w.store.messages(id),
          w.store.delete(id),
          w.store.list({ owner: { scopeId: id } }),
          w.store.search('x', { owner: { scopeId: id } }),
          w.store.search('x', { sessionId: id }),
        ]) {
          expect(await codeOf(call)).toBe('KEY_INVALID');
        }
      },
    );
  });
}
