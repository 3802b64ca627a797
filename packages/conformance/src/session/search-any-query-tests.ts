import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { fuzz } from '../fuzz.js';
import { HOSTILE_QUERIES } from '../hostile-ids.js';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** Every query is plain words, and none fails. */
export function searchAnyQueryTests(w: SessionWorld): void {
  it.each(HOSTILE_QUERIES)('takes no part of %j for an operator', async (query) => {
    const session = w.fresh();
    await w.store.append(session, [user('nothing that fits')]);
    expect(await w.store.search(query, { owner: ownerOf(session) })).toEqual([]);
  });

  it.each([{ limit: -1 }, { limit: 1.5 }, { offset: -1 }, { since: Number.NaN }])(
    'with %j is VALUE_INVALID',
    async (opts) => {
      expect(await codeOf(w.store.search('x', opts))).toBe('VALUE_INVALID');
    },
  );

  it.each([undefined, null, 7, ['x']])('a query that is %j is VALUE_INVALID', async (query) => {
    const found = Reflect.apply(w.store.search, w.store, [query, {}]);
    expect(await codeOf(found)).toBe('VALUE_INVALID');
  });

  const word = fc.constantFrom('tea', 'TEA', 'thé', 'the', 'milk', 'tea2', '茶', 'ещё', 'a_b');
  const text = fc
    .array(fc.tuple(word, fc.constantFrom(' ', ', ', '\n', '-', '" ', ' AND ')), {
      maxLength: 6,
    })
    .map((parts) => parts.flat().join(''));
  const plain = (each: string) =>
    each
      .normalize('NFD')
      .replace(/\p{Mn}/gu, '')
      .toLowerCase();
  /** Returns the words as a person sees them, found without an index. */
  const wordsOf = (each: string): readonly string[] =>
    plain(each).match(/\p{Script=Han}|[a-z0-9а-я]+/gu) ?? [];

  fuzz(
    'finds by a word what a look at every message finds',
    fc.tuple(
      fc.array(fc.tuple(text, fc.boolean()), { maxLength: 12 }),
      fc.constantFrom('tea', 'Thé', 'milk', 'tea2', '茶', 'ЕЩЁ', 'absent', 'and'),
    ),
    async ([messages, query]) => {
      const mine = w.fresh();
      const theirs = w.fresh();
      for (const [content, isMine] of messages) {
        await w.store.append(isMine ? mine : theirs, [user(content)]);
      }
      const expected = messages
        .filter(([content, isMine]) => isMine && wordsOf(content).includes(plain(query)))
        .map(([content]) => content);
      expect(await w.textsOf(query, { owner: ownerOf(mine), limit: 100 })).toEqual(expected.sort());
    },
    { promised: 'key-value', runs: { check: 20, long: 10_000 } },
  );

  fuzz(
    'never fails, whatever is asked',
    fc.tuple(anyText(), fc.string()),
    async ([binary, ascii]) => {
      for (const query of [binary, ascii, `"${ascii}"`, `${ascii} ${binary}`]) {
        expect(await codeOf(w.store.search(query, { owner: { scopeId: 'shared' } }))).toBe('done');
      }
    },
    { runs: { check: 40, long: 50_000 } },
  );
}
