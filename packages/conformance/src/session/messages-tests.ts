import { describe, expect, it } from 'vitest';
import { type SessionWorld, user } from './session-world.js';

/** How the messages of a session are read: in pages, and cut. */
export function messagesTests(w: SessionWorld): void {
  describe('messages', () => {
    it('go on after a place, and hold to a limit', async () => {
      const session = w.fresh();
      await w.store.append(
        session,
        ['a', 'b', 'c', 'd'].map((text) => user(text)),
      );
      const page = await w.store.messages(session.id, { afterSequence: 1, limit: 2 });
      expect(page.map(({ text }) => text)).toEqual(['b', 'c']);
      for (const [afterSequence, found] of [
        [4, ''],
        [2.5, 'cd'],
        [-1, 'abcd'],
        [Number.NEGATIVE_INFINITY, 'abcd'],
        [1e300, ''],
        [Number.POSITIVE_INFINITY, ''],
      ] as const) {
        const rest = await w.store.messages(session.id, { afterSequence });
        expect(rest.map(({ text }) => text).join(''), `${afterSequence}`).toBe(found);
      }
    });

    it('are cut, and without data, where only their beginnings are wanted', async () => {
      const session = w.fresh();
      const texts = [
        'short',
        `a\u0000${'b'.repeat(50_000)}`,
        `ab😀${'c'.repeat(10)}`,
        '😀é€😀',
        '',
      ];
      await w.store.append(
        session,
        texts.map((text) => ({ ...user(text), data: { more: 'x' } })),
      );
      const cut = await w.store.messages(session.id, { maxTextChars: 3, limit: 4 });
      expect(cut.map(({ text }) => text)).toEqual(['sho', 'a\u0000b', 'ab', '😀é']);
      expect(cut.every((message) => message.data === undefined)).toBe(true);
    });

    it('of a session that does not exist are an empty list', async () => {
      expect(await w.store.messages(w.fresh().id)).toEqual([]);
      expect(await w.store.get(w.fresh().id)).toBeNull();
      expect(await w.store.delete(w.fresh().id)).toBe(false);
    });
  });
}
