import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';

async function worldOf(...texts: string[]) {
  const world = createTodoWorld();
  await world.text('todo_set', plan(...texts));
  return world;
}

describe('todo_update', () => {
  it('changes what is given and keeps the rest', async () => {
    const world = await worldOf('a', 'b');
    await world.text('todo_update', { items: [{ id: 't2', note: 'first\nsecond' }] });
    const text = await world.text('todo_update', { items: [{ id: 't2', state: 'in_progress' }] });
    expect(text).toBe(
      'Updated t2.\n[>] t2 b\n      first\n      second\nTodo: 2 open (1 in progress).',
    );
    await world.text('todo_update', { items: [{ id: 't2', text: 'B', note: '' }] });
    expect(await world.items()).toEqual([
      { id: 't1', text: 'a', state: 'pending' },
      { id: 't2', text: 'B', state: 'in_progress' },
    ]);
  });

  it('finishes one item and begins the next in one call, in either order', async () => {
    const world = await worldOf('a', 'b');
    await world.text('todo_update', { items: [{ id: 't1', state: 'in_progress' }] });
    await world.text('todo_update', {
      items: [
        { id: 't2', state: 'in_progress' },
        { id: 't1', state: 'done' },
      ],
    });
    expect((await world.items()).map(({ state }) => state)).toEqual(['done', 'in_progress']);
  });

  it('refuses a second item in progress, names the first, and changes nothing', async () => {
    const world = await worldOf('a', 'b');
    await world.text('todo_update', { items: [{ id: 't1', state: 'in_progress' }] });
    const before = await world.stored();
    const result = await world.run('todo_update', {
      items: [{ id: 't2', state: 'in_progress', text: 'B' }],
    });
    expect(result).toEqual({
      ok: false,
      code: 'input_invalid',
      error:
        't1 "a" and t2 "B" would be in progress, at most one may be; in the same call, set the others to done, pending or cancelled. Nothing was changed.',
    });
    expect(await world.stored()).toBe(before);
  });

  it.each<[change: object, order: string]>([
    [{ id: 't1', after: 't3' }, 'bca'],
    [{ id: 't3', before: 't1' }, 'cab'],
    [{ id: 't2', before: 't3' }, 'abc'],
    [{ id: 't1', after: 't2' }, 'bac'],
  ])('moves with %j: %s', async (change, order) => {
    const world = await worldOf('a', 'b', 'c');
    await world.text('todo_update', { items: [change] });
    expect((await world.items()).map(({ text }) => text).join('')).toBe(order);
  });

  it('makes all changes of a call or none, and tells every problem', async () => {
    const world = await worldOf('a', 'b');
    const before = await world.stored();
    const result = await world.run('todo_update', {
      items: [
        { id: 't1', state: 'done' },
        { id: 't7', state: 'done' },
        { id: 't2', after: 't9' },
      ],
    });
    expect(result).toEqual({
      ok: false,
      code: 'input_invalid',
      error:
        'items[1].id: there is no "t7"; the items are t1, t2; items[2].after: there is no "t9"; the items are t1, t2. Nothing was changed.',
    });
    expect(await world.stored()).toBe(before);
  });

  it('on a dry run tells the change, and stores nothing', async () => {
    const world = await worldOf('a');
    const before = await world.stored();
    const args = { items: [{ id: 't1', state: 'done' }] };
    const text = await world.text('todo_update', args, { dryRun: true });
    expect(text).toBe('[dry-run] t1 would be updated.\n[x] t1 a\nTodo: nothing open, 1 done.');
    expect(await world.stored()).toBe(before);
  });

  it('works on a list that is longer than a cap that was lowered', async () => {
    const world = await worldOf('a', 'b', 'c');
    const kvStoreFactory = () => world.store();
    const capped = createTodoWorld({
      kvStoreFactory,
      settings: { todo: { max_items: 2 } },
    });
    await capped.text('todo_update', { items: [{ id: 't1', state: 'done' }] });
    expect(await capped.run('todo_add', plan('d'))).toMatchObject({ code: 'input_invalid' });
    await capped.text('todo_set', { items: [{ id: 't2' }, { id: 't3' }] });
  });
});
