import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';

const texts = async (world: ReturnType<typeof createTodoWorld>) =>
  (await world.items()).map(({ text }) => text).join('');

describe('todo_add', () => {
  it('begins a list, and tells only what was added', async () => {
    const world = createTodoWorld();
    await world.text('todo_add', plan('a', 'b'));
    const result = await world.run('todo_add', { items: [{ text: 'c', note: 'why' }] });
    expect(result).toMatchObject({
      value: 'Added t3.\n[ ] t3 c\n      why\nTodo: 3 open.',
      structured: { touched: ['t3'], removed: [], counts: { pending: 3 } },
    });
    expect(await texts(world)).toBe('abc');
  });

  it.each<[place: object, order: string, said: string]>([
    [{}, 'abcXY', 'Added t4, t5.'],
    [{ before: 't1' }, 'XYabc', 'Added t4, t5 before t1.'],
    [{ after: 't1' }, 'aXYbc', 'Added t4, t5 after t1.'],
    [{ before: 't3' }, 'abXYc', 'Added t4, t5 before t3.'],
    [{ after: 't3' }, 'abcXY', 'Added t4, t5 after t3.'],
  ])('with %j: %s', async (place, order, said) => {
    const world = createTodoWorld();
    await world.text('todo_set', plan('a', 'b', 'c'));
    const text = await world.text('todo_add', { ...plan('X', 'Y'), ...place });
    expect(text.split('\n')[0]).toBe(said);
    expect(await texts(world)).toBe(order);
  });

  it('on a dry run tells the ids, and stores nothing', async () => {
    const world = createTodoWorld();
    await world.text('todo_set', plan('a'));
    const before = await world.stored();
    const text = await world.text('todo_add', { ...plan('b'), before: 't1' }, { dryRun: true });
    expect(text).toBe('[dry-run] t2 would be added before t1.\n[ ] t2 b\nTodo: 2 open.');
    expect(await world.stored()).toBe(before);
  });
});
