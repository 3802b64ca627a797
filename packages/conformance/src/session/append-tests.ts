import type { NewSessionMessage, SessionOwner } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { type SessionWorld, user } from './session-world.js';

/** What an append stores, and what it refuses. */
export function appendTests(w: SessionWorld): void {
  describe('append', () => {
    it('of several writers that saw the same last message, lets one go first', async () => {
      const session = w.fresh();
      const race = (afterSequence: number) =>
        Promise.all(
          ['a', 'b', 'c'].map((text) =>
            codeOf(w.store.append(session, [user(text), user(text)], { afterSequence })),
          ),
        );
      expect((await race(0)).sort()).toEqual(['SESSION_CHANGED', 'SESSION_CHANGED', 'done']);
      expect((await race(2)).sort()).toEqual(['SESSION_CHANGED', 'SESSION_CHANGED', 'done']);
      for (const afterSequence of [0, 1, 2, 3, 5, -1, 4.5, Number.NaN]) {
        const call = w.store.append(session, [user('late')], { afterSequence });
        expect(await codeOf(call), `${afterSequence}`).toBe('SESSION_CHANGED');
      }
      expect(await w.store.messages(session.id)).toHaveLength(4);
    });

    it('numbers the messages and keeps all of them', async () => {
      const session = { ...w.fresh(), key: 'cli:repo', personalityId: 'researcher' };
      const messages: NewSessionMessage[] = [
        { role: 'system', text: '' },
        { role: 'user', text: 'żółć 😀\r\n\0', createdAt: w.now - 5_000 },
        { role: 'tool', text: 'out', toolName: 'terminal', data: { a: [1, null, 'x'] } },
      ];
      const stored = await w.store.append(session, messages);
      expect(stored).toEqual(
        messages.map((message, index) => ({
          createdAt: w.now,
          ...message,
          sessionId: session.id,
          sequence: index + 1,
        })),
      );
      expect(await w.store.messages(session.id)).toEqual(stored);
      const [last] = await w.store.append(session, [user('again')]);
      expect(last?.sequence).toBe(4);
      expect(await w.store.get(session.id)).toEqual({
        ...session,
        startedAt: w.now - 5_000,
        lastMessageAt: w.now,
        messageCount: 4,
      });
    });

    it('of nothing stores nothing', async () => {
      const session = w.fresh();
      expect(await w.store.append(session, [])).toEqual([]);
      expect(await w.store.get(session.id)).toBeNull();
    });

    it('is all or nothing', async () => {
      const session = w.fresh();
      const broken = { role: 'user', text: 'b', data: 1n } as const;
      expect(await codeOf(w.store.append(session, [user('a'), broken]))).toBe('VALUE_INVALID');
      expect(await w.store.get(session.id)).toBeNull();
      expect(await w.store.messages(session.id)).toEqual([]);
    });

    it('at once from many sides gives each message a place of its own', async () => {
      const session = w.fresh();
      const stored = await Promise.all(
        Array.from({ length: 50 }, (_, i) => w.store.append(session, [user(`${i}`), user(`${i}`)])),
      );
      const places = stored.flat().map(({ sequence }) => sequence);
      expect(places.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
      for (const [first, second] of stored) {
        expect(second?.sequence).toBe((first?.sequence ?? 0) + 1);
      }
    });

    it.each<[string, SessionOwner, SessionOwner]>([
      ['scope', { scopeId: 'a' }, { scopeId: 'A' }],
      ['user', { scopeId: 'a' }, { scopeId: 'a', userScopeId: 'u' }],
      ['empty user', { scopeId: 'a' }, { scopeId: 'a', userScopeId: '' }],
      ['team', { scopeId: 'a', teamId: 't' }, { scopeId: 'a', userScopeId: 't' }],
    ])('to a session of another %s is SESSION_OWNER_MISMATCH', async (_, owner, other) => {
      const { id } = w.fresh();
      await w.store.append({ id, ...owner }, [user('mine')]);
      const call = w.store.append({ id, ...other }, [user('theirs')]);
      expect(await codeOf(call)).toBe('SESSION_OWNER_MISMATCH');
      expect(await w.store.messages(id)).toHaveLength(1);
      expect(await w.store.get(id)).toMatchObject(owner);
    });

    it('makes lone surrogates well-formed', async () => {
      const session = w.fresh();
      await w.store.append(session, [user('a\ud800b')]);
      expect(await w.store.messages(session.id)).toMatchObject([{ text: 'a\ufffdb' }]);
    });
  });
}
