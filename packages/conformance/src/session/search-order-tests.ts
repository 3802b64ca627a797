import { expect, it } from 'vitest';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** What a search finds first. */
export function searchOrderTests(w: SessionWorld): void {
  it('finds what has all the words, then what has some', async () => {
    const session = w.fresh();
    const owner = ownerOf(session);
    const often = 'blue fish, blue fish, fish';
    await w.store.append(
      session,
      ['the fish that they saw was red', often, 'red bird', 'a whale'].map((text) => user(text)),
    );
    const found = async (query: string, opts = {}) =>
      (await w.store.search(query, { owner, ...opts })).map(({ message }) => message.sequence);
    const [first, ...others] = await found('red fish');
    expect([first, others.sort()]).toEqual([1, [2, 3]]);
    expect((await found('blue bird')).sort()).toEqual([2, 3]);
    expect(await found('blue dog')).toEqual([2]);
    const pages = [0, 1, 2, 3].map((offset) => found('red fish', { limit: 1, offset }));
    expect((await Promise.all(pages)).flat()).toEqual(await found('red fish'));
  });

  it('puts what has more of the words before what has one of them often', async () => {
    const session = w.fresh();
    const texts = ['pump pump pump pump', 'pump and valve', 'valve', 'a boiler'];
    await w.store.append(
      session,
      texts.map((text) => user(text)),
    );
    const found = await w.store.search('pump valve gasket', { owner: ownerOf(session) });
    expect(found[0]?.message.text).toBe('pump and valve');
  });

  it('puts a word as it was asked for before its other forms, and marks all of them', async () => {
    const session = w.fresh();
    const texts = ['they plan it', 'they planned it', 'they plans it', 'planted'];
    await w.store.append(
      session,
      texts.map((text) => user(text)),
    );
    for (const query of ['plan', 'planned', 'plans']) {
      const found = await w.store.search(query, { owner: ownerOf(session) });
      expect(found[0]?.snippet).toBe(`they [${query}] it`);
      expect(found.map(({ snippet }) => snippet).sort()).toEqual([
        'they [plan] it',
        'they [planned] it',
        'they [plans] it',
      ]);
    }
  });

  it('puts what is new before what is old and as good, and not before what is better', async () => {
    const session = w.fresh();
    const year = 365 * 86_400_000;
    await w.store.append(session, [
      user('we chose the blue door', w.now),
      user('we chose the blue door', w.now - year),
      user('blue and much else that was said of other things at length on that day', w.now),
    ]);
    const found = await w.store.search('blue door', { owner: ownerOf(session) });
    expect(found.map(({ message }) => message.sequence)).toEqual([1, 2, 3]);
  });

  it('puts the better match first, and of equals the later', async () => {
    const session = w.fresh();
    const texts = ['fish and a lot of other words that nobody asked for', 'fish', 'fish fish'];
    await w.store.append(
      session,
      [...texts, 'fish'].map((text) => user(text)),
    );
    const found = await w.store.search('fish', { owner: ownerOf(session) });
    expect(found.map(({ message }) => message.sequence)).toEqual([3, 4, 2, 1]);
    const scores = found.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(found[0]).toMatchObject({
      session: { ...session, messageCount: 4 },
      snippet: '[fish] [fish]',
    });
  });
}
