import type { MessageRole } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** What a search leaves out: other times and roles, the rest of a long text, deleted sessions. */
export function searchLimitsTests(w: SessionWorld): void {
  it('holds to time, roles, limit and offset', async () => {
    const session = w.fresh();
    const owner = ownerOf(session);
    const roles: MessageRole[] = ['system', 'user', 'assistant', 'tool'];
    await w.store.append(
      session,
      roles.map((role, index) => ({ role, text: `word ${role}`, createdAt: index * 1_000 })),
    );
    const found = (opts: object) => w.textsOf('word', { owner, ...opts });
    expect(await found({ since: 1_000, until: 3_000 })).toEqual(['word assistant', 'word user']);
    expect(await found({ until: 1_000 })).toEqual(['word system']);
    expect(await found({ roles: ['tool', 'user'] })).toEqual(['word tool', 'word user']);
    expect(await found({ roles: [] })).toEqual([]);
    expect(await found({ limit: 0 })).toEqual([]);
    const pages = [0, 2, 4].map((offset) => found({ limit: 2, offset }));
    const all = await Promise.all(pages);
    expect(all.map(({ length }) => length)).toEqual([2, 2, 0]);
    expect(all.flat().sort()).toEqual(roles.map((role) => `word ${role}`).sort());
  });

  it('gives each of thousands of matches once, those with all words first', async () => {
    const session = w.fresh();
    const owner = ownerOf(session);
    // The newest have only some of the words.
    const texts = Array.from(
      { length: 2_300 },
      (_, at) =>
        `tide ${at < 2_100 ? 'moon ' : ''}${at === 3 ? 'shore ' : ''}${'and '.repeat(at % 7)}`,
    );
    await w.store.append(
      session,
      texts.map((text) => user(text)),
    );
    for (const [query, withAll] of [
      ['tide moon', 2_100],
      ['tide shore', 1],
    ] as const) {
      const found: number[] = [];
      for (let offset = 0; offset <= texts.length; offset += 200) {
        const page = await w.store.search(query, { owner, limit: 200, offset });
        found.push(...page.map(({ message }) => message.sequence));
      }
      expect(found.toSorted((a, b) => a - b)).toEqual(texts.map((_, at) => at + 1));
      const words = query.split(' ');
      const haveAll = found.map((at) => words.every((word) => texts[at - 1]?.includes(word)));
      expect(haveAll.lastIndexOf(true)).toBe(withAll - 1);
    }
  });

  it('gives a part of a long text, with what was found', async () => {
    const session = w.fresh();
    const text = `${'before '.repeat(20_000)}needle ${'after '.repeat(20_000)}`;
    await w.store.append(session, [user(text)]);
    const [match] = await w.store.search('needle', { owner: ownerOf(session) });
    expect(match?.snippet).toContain('before [needle] after');
    expect(match?.snippet.length).toBeLessThan(500);
  });

  it('finds nothing of a session that was deleted', async () => {
    const [session, other] = [w.fresh(), w.fresh()];
    for (const each of [session, other]) {
      await w.store.append({ ...each, scopeId: 'deleting' }, [user('goneword')]);
    }
    expect(await w.store.delete(session.id)).toBe(true);
    const found = await w.store.search('goneword');
    expect(found.map((match) => match.session.id)).toEqual([other.id]);
    expect(await w.store.get(session.id)).toBeNull();
    expect(await w.store.messages(session.id)).toEqual([]);
    await w.store.append({ ...session, scopeId: 'another' }, [user('new')]);
    expect(await w.store.search('goneword', { sessionId: session.id })).toEqual([]);
    // A new message may get the place of a removed one in the store. It must not get its words.
    await w.store.delete(other.id);
    await w.store.append(w.fresh(), [user('new'), user('newer')]);
    expect(await w.store.search('goneword')).toEqual([]);
  });
}
