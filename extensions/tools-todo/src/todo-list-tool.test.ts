import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';

async function mixed() {
  const world = createTodoWorld();
  await world.text('todo_set', {
    items: [
      { text: 'a', state: 'done' },
      { text: 'b', state: 'in_progress' },
      { text: 'c', state: 'cancelled' },
      { text: 'd', note: 'later' },
    ],
  });
  return world;
}

describe('todo_list', () => {
  it('shows what is open, and counts the rest', async () => {
    const world = await mixed();
    expect(await world.run('todo_list', {})).toEqual({
      ok: true,
      value: [
        'Todo: 2 open (1 in progress), 1 done, 1 cancelled.',
        '[>] t2 b',
        '[ ] t4 d',
        '      later',
      ].join('\n'),
      structured: {
        items: [
          { id: 't2', text: 'b', state: 'in_progress' },
          { id: 't4', text: 'd', state: 'pending', note: 'later' },
        ],
        counts: { pending: 1, in_progress: 1, done: 1, cancelled: 1 },
        left: 0,
      },
    });
  });

  it('with all shows every item, in its order', async () => {
    const lines = (await (await mixed()).text('todo_list', { all: true })).split('\n');
    expect(lines.filter((line) => line.startsWith('['))).toEqual([
      '[x] t1 a',
      '[>] t2 b',
      '[-] t3 c',
      '[ ] t4 d',
    ]);
  });

  it.each<[string, object[], string]>([
    ['no list', [], 'The todo list is empty.'],
    ['a list all of which is done', [{ text: 'a', state: 'done' }], 'Todo: nothing open, 1 done.'],
  ])('says so for %s', async (_what, items, said) => {
    const world = createTodoWorld();
    if (items.length > 0) await world.text('todo_set', { items });
    expect(await world.text('todo_list', {})).toBe(said);
    expect(await world.text('todo_list', {}, { dryRun: true })).toBe(said);
  });

  it('shows max_shown items, and the next ones after the last', async () => {
    const world = createTodoWorld({ settings: { todo: { max_shown: 2 } } });
    await world.text('todo_set', plan('a', 'b', 'c', 'd', 'e'));
    const pages = [];
    for (const args of [{}, { after: 't2' }, { after: 't4' }, { after: 't5' }]) {
      pages.push(await world.text('todo_list', args));
    }
    expect(pages).toEqual([
      'Todo: 5 open.\n[ ] t1 a\n[ ] t2 b\n… and 3 more; todo_list with after: "t2" shows them.',
      'Todo: 5 open.\n[ ] t3 c\n[ ] t4 d\n… and 1 more; todo_list with after: "t4" shows them.',
      'Todo: 5 open.\n[ ] t5 e',
      'Todo: 5 open.',
    ]);
  });

  it('stays within the budget, and loses no item on the way through', async () => {
    const world = createTodoWorld({ settings: { todo: { max_shown: 500 } } });
    const note = 'n'.repeat(300);
    const items = Array.from({ length: 40 }, (_, index) => ({ text: `item ${index}`, note }));
    await world.text('todo_set', { items });
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const args = { all: true, ...(after !== undefined && { after }) };
      const text = await world.text('todo_list', args, { resultBudgetChars: 2_000 });
      expect(text.length).toBeLessThanOrEqual(2_000);
      expect(text).not.toContain('truncated');
      seen.push(...[...text.matchAll(/^\[ \] (t\d+) /gm)].map(([, id]) => id ?? ''));
      after = /after: "(t\d+)" and all shows them/.exec(text)?.[1];
      if (after === undefined) break;
    }
    expect(seen).toEqual(items.map((_, index) => `t${index + 1}`));
  });

  it('changes nothing, and each session has a list of its own', async () => {
    const world = await mixed();
    const before = await world.stored();
    expect(await world.text('todo_list', {}, { sessionId: 'other' })).toBe(
      'The todo list is empty.',
    );
    await world.text('todo_list', { all: true });
    expect(await world.stored()).toBe(before);
    expect(await world.stored('other')).toBeNull();
  });
});
