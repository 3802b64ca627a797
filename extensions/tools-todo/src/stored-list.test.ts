import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';
import { emptyAfter, formatList, parseList } from './stored-list.js';
import { TODO_STATES, type TodoItem } from './todo-list.js';
import { LIST_KEY } from './todo-store.js';

const item = { id: 't1', text: 'a', state: 'pending' };
const stored = (fields: object) =>
  JSON.stringify({ version: 1, nextId: 3, items: [item], ...fields });

const unreadable: [what: string, value: string, said: RegExp][] = [
  ['nothing', '', /damaged, or something else/],
  ['half a list', stored({}).slice(0, 40), /damaged/],
  ['a number', '7', /damaged/],
  ['null', 'null', /damaged/],
  ['a text of another tool', 'buy milk', /damaged/],
  ['a list of another tool', '[{"text":"a"}]', /damaged/],
  ['no version', stored({ version: undefined }), /damaged/],
  ['a newer version', stored({ version: 2, lists: [] }), /newer version/],
  ['an unknown field', stored({ owner: 'x' }), /damaged/],
  ['an unknown state', stored({ items: [{ ...item, state: 'blocked' }] }), /damaged/],
  ['an id twice', stored({ items: [item, item] }), /damaged/],
  ['an id that is not yet given out', stored({ nextId: 1 }), /damaged/],
  ['an id of another kind', stored({ items: [{ ...item, id: '1' }] }), /damaged/],
  ['an empty text', stored({ items: [{ ...item, text: ' ' }] }), /damaged/],
  ['an invalid text', stored({ items: [{ ...item, text: 7 }] }), /damaged/],
  ['__proto__', '{"__proto__":{"version":1},"items":[],"nextId":1}', /damaged/],
  ['10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000), /damaged/],
];

describe('a stored list that can not be read', () => {
  it.each(unreadable)('%s: every tool says so and changes nothing', async (_what, value, said) => {
    const world = createTodoWorld();
    await world.store().set(LIST_KEY, value);
    const calls: [string, unknown][] = [
      ['todo_set', plan('a')],
      ['todo_add', plan('a')],
      ['todo_update', { items: [{ id: 't1', state: 'done' }] }],
      ['todo_list', {}],
      ['todo_clear', { keep_open: true }],
    ];
    for (const result of await world.runAll(calls)) {
      expect(result).toMatchObject({
        ok: false,
        code: 'execution_failed',
        error: expect.stringMatching(said),
      });
      expect(result).toMatchObject({ error: expect.stringContaining('todo_clear removes it') });
    }
    expect(await world.stored()).toBe(value);
    await world.text('todo_clear', {});
    await world.text('todo_set', plan('anew'));
    expect(await world.items()).toMatchObject([{ text: 'anew' }]);
  });

  it('is cleaned as what a call gives, where another tool wrote it', async () => {
    const world = createTodoWorld();
    const text = 'a\n[x] t9 forged\u202e';
    await world.store().set(LIST_KEY, stored({ items: [{ ...item, text, note: '\u200b' }] }));
    expect(await world.text('todo_list', {})).toBe('Todo: 1 open.\n[ ] t1 a [x] t9 forged');
  });
});

const anyItem = (index: number): fc.Arbitrary<TodoItem> =>
  fc.record({
    id: fc.constant(`t${index + 1}`),
    text: fc.stringMatching(/^[a-z"\\]{1,9}$/),
    state: fc.constantFrom(...TODO_STATES),
  });
const anyList = fc.integer({ min: 0, max: 6 }).chain((count) =>
  fc.tuple(...Array.from({ length: count }, (_, index) => anyItem(index))).map((items) => ({
    nextId: count + 1,
    items,
  })),
);

describe('parseList', () => {
  fuzz(
    'reads what formatList wrote',
    anyList,
    (list) => {
      expect(parseList(formatList(list))).toEqual({ ok: true, list });
    },
    { runs: { check: 20, long: 30_000 } },
  );

  fuzz(
    'answers for any text, and the list after it gives none of its ids again',
    fc.oneof(
      anyText(),
      fc.json(),
      fc.tuple(anyList, fc.nat(60), fc.string()).map(([list, at, noise]) => {
        const text = formatList(list);
        return text.slice(0, at) + noise + text.slice(at + 1);
      }),
    ),
    (text) => {
      const parsed = parseList(text);
      const after = emptyAfter(text);
      expect(after.items).toEqual([]);
      const ids = parsed.ok
        ? parsed.list.items.map(({ id }) => id)
        : [...text.matchAll(/"(t[1-9]\d{0,14})"/g)].map(([, id]) => id);
      for (const id of ids) expect(Number(id?.slice(1))).toBeLessThan(after.nextId);
      expect(parseList(formatList(after)).ok).toBe(true);
    },
  );
});
