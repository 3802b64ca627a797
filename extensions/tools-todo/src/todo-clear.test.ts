import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';

async function mixed() {
  const world = createTodoWorld();
  const items = ['done', 'pending', 'cancelled', 'in_progress'].map((state) => ({
    text: state,
    state,
  }));
  await world.text('todo_set', { items });
  return world;
}

describe('todo_clear', () => {
  it('removes all items', async () => {
    const world = await mixed();
    expect(await world.run('todo_clear', {})).toMatchObject({
      value: 'Removed: 4 items.\nThe todo list is empty.',
      structured: { removed: ['t1', 't2', 't3', 't4'], items: [] },
    });
    expect(await world.items()).toEqual([]);
  });

  it('with keep_open removes what is closed', async () => {
    const world = await mixed();
    expect(await world.text('todo_clear', { keep_open: true })).toBe(
      'Removed: 2 items.\nTodo: 2 open (1 in progress).',
    );
    expect((await world.items()).map(({ id }) => id)).toEqual(['t2', 't4']);
  });

  it('of a list that was never written stores nothing', async () => {
    const world = createTodoWorld();
    expect(await world.text('todo_clear', {})).toBe('Removed: 0 items.\nThe todo list is empty.');
    expect(await world.stored()).toBeNull();
  });

  it('on a dry run tells what would go, and stores nothing', async () => {
    const world = await mixed();
    const before = await world.stored();
    const text = await world.text('todo_clear', { keep_open: true }, { dryRun: true });
    expect(text).toBe('[dry-run] 2 items would be removed.\nTodo: 2 open (1 in progress).');
    expect(await world.stored()).toBe(before);
  });

  it('removes a list that can not be read, and gives none of its ids again', async () => {
    const world = createTodoWorld();
    await world.store().set('todo:list', '{"items":[{"id":"t7","te');
    const dry = await world.text('todo_clear', {}, { dryRun: true });
    expect(dry).toContain('[dry-run] a list that could not be read would be removed.');
    expect(await world.run('todo_clear', { keep_open: true })).toMatchObject({
      code: 'execution_failed',
    });
    expect(await world.text('todo_clear', {})).toContain('Removed: a list that could not be read.');
    await world.text('todo_add', plan('a'));
    expect(await world.items()).toEqual([{ id: 't8', text: 'a', state: 'pending' }]);
  });
});
