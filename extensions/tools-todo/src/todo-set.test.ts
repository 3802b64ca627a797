import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';

describe('todo_set', () => {
  it('writes a list, and tells it with ids, marks and counts', async () => {
    const world = createTodoWorld();
    const result = await world.run('todo_set', {
      items: [
        { text: 'Read the code', state: 'done' },
        { text: 'Write a test', state: 'in_progress', note: 'for the parser\nand its errors' },
        { text: 'Ship it' },
      ],
    });
    expect(result).toEqual({
      ok: true,
      value: [
        'The list has 3 items now.',
        '[x] t1 Read the code',
        '[>] t2 Write a test',
        '      for the parser',
        '      and its errors',
        '[ ] t3 Ship it',
        'Todo: 2 open (1 in progress), 1 done.',
      ].join('\n'),
      structured: {
        touched: ['t1', 't2', 't3'],
        removed: [],
        items: [
          { id: 't1', text: 'Read the code', state: 'done' },
          {
            id: 't2',
            text: 'Write a test',
            state: 'in_progress',
            note: 'for the parser\nand its errors',
          },
          { id: 't3', text: 'Ship it', state: 'pending' },
        ],
        counts: { pending: 1, in_progress: 1, done: 1, cancelled: 0 },
      },
    });
  });

  it('reorders by ids, keeps what is left out, and removes what is not named', async () => {
    const world = createTodoWorld();
    await world.text('todo_set', {
      items: [{ text: 'a', note: 'A' }, { text: 'b' }, { text: 'c', state: 'done' }],
    });
    const text = await world.text('todo_set', {
      items: [{ id: 't3' }, { text: 'new' }, { id: 't1', text: 'a2' }],
    });
    expect(text).toContain('The list has 3 items now. Removed: t2.');
    expect(await world.items()).toEqual([
      { id: 't3', text: 'c', state: 'done' },
      { id: 't4', text: 'new', state: 'pending' },
      { id: 't1', text: 'a2', state: 'pending', note: 'A' },
    ]);
  });

  it('never gives an id again, in a list that was replaced or cleared', async () => {
    const world = createTodoWorld();
    await world.text('todo_set', plan('a', 'b'));
    await world.text('todo_set', plan('c'));
    await world.text('todo_clear', {});
    await world.text('todo_add', plan('d'));
    expect((await world.items()).map(({ id }) => id)).toEqual(['t4']);
  });

  it('keeps a text to one line, without what can not be seen', async () => {
    const world = createTodoWorld();
    const text = ' [x] t9\n\tforged\u0007\u202e \u200b item ';
    const note = '\u001b[31mred\u001b[0m  \r\n\tindented\u2028end\n\n';
    await world.text('todo_set', { items: [{ text, note }] });
    expect(await world.items()).toEqual([
      {
        id: 't1',
        text: '[x] t9 forged item',
        state: 'pending',
        note: '[31mred[0m\n  indented\nend',
      },
    ]);
  });

  it('tells no more than 50 items, and of as many as fit the budget', async () => {
    const world = createTodoWorld();
    const items = Array.from({ length: 120 }, (_, index) => ({
      text: `${index} ${'x'.repeat(90)}`,
    }));
    const lines = (await world.text('todo_set', { items })).split('\n');
    expect(lines).toHaveLength(53);
    expect(lines.slice(-2)).toEqual(['… and 70 more.', 'Todo: 120 open.']);
    const tight = await world.text('todo_set', { items }, { resultBudgetChars: 1_000 });
    expect(tight.length).toBeLessThanOrEqual(1_000);
    expect(tight).not.toContain('truncated');
    expect(tight.split('\n').slice(-2)).toEqual(['… and 112 more.', 'Todo: 120 open.']);
  });

  it('on a dry run tells the list that would be, and stores nothing', async () => {
    const world = createTodoWorld();
    const empty = await world.text('todo_set', plan('a'), { dryRun: true });
    expect(empty).toBe('[dry-run] The list would have 1 item.\n[ ] t1 a\nTodo: 1 open.');
    expect(await world.stored()).toBeNull();
    await world.text('todo_set', plan('a'));
    const before = await world.stored();
    const result = await world.run('todo_set', plan('b', 'c'), { dryRun: true });
    expect(result).toMatchObject({
      value: expect.stringContaining('[dry-run] The list would have 2 items. Removed: t1.'),
      structured: { dryRun: true },
    });
    expect(await world.stored()).toBe(before);
    const wrong = await world.run('todo_set', { items: [{ id: 't9' }] }, { dryRun: true });
    expect(wrong).toMatchObject({ ok: false, code: 'input_invalid' });
  });
});
