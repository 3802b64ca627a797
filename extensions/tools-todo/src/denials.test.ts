import { createInMemoryKvStore, DefaultToolRegistry } from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createTodoWorld, plan } from './fixtures/todo-world.js';
import { createTodoTools } from './todo-tools.js';

/** What is refused in a list of `t1 "a"`, which is in progress, and `t2 "b"`. */
const refused: [name: string, args: unknown, says: RegExp][] = [
  ['todo_set', {}, /^items: /],
  ['todo_set', { items: [] }, /^items: is empty; todo_clear removes all items$/],
  ['todo_set', { items: 'a' }, /^items: expected array/],
  ['todo_set', { items: ['a'] }, /^items\[0\]: expected object/],
  ['todo_set', { items: [{}] }, /^items\[0\]\.text: is missing; a new item needs one$/],
  ['todo_set', plan(''), /^items\[0\]\.text: is empty/],
  ['todo_set', plan(' \n\u200b'), /^items\[0\]\.text: is empty/],
  ['todo_set', plan('\ud800'), /^items\[0\]\.text: holds half a surrogate pair$/],
  ['todo_set', plan('x'.repeat(501)), /has 501 characters, at most 500 are allowed/],
  ['todo_set', plan('x'.repeat(1_001)), /^items\[0\]\.text: Too big/],
  ['todo_set', { items: [{ text: 'a', note: 'x'.repeat(1_001) }] }, /items\[0\]\.note: has 1001/],
  ['todo_set', { items: [{ text: 'a', note: 'x'.repeat(2_001) }] }, /items\[0\]\.note: Too big/],
  ['todo_set', { items: [{ text: 'a', state: 'doing' }] }, /^items\[0\]\.state: .*"in_progress"/],
  [
    'todo_set',
    { items: [{ id: 't3' }] },
    /^items\[0\]\.id: there is no "t3"; the items are t1, t2/,
  ],
  ['todo_set', { items: [{ id: 't1' }, { id: 't1' }] }, /"t1" is there twice/],
  [
    'todo_set',
    { items: [{ id: 't1' }, { text: 'c', state: 'in_progress' }] },
    /t1 "a" and t3 "c" would be in progress, at most one may be/,
  ],
  ['todo_set', plan(...Array(201).fill('x')), /would have 201 items, at most 200 are allowed/],
  ['todo_set', plan(...Array(501).fill('x')), /^items: Too big/],
  ['todo_clear', { id: 't1' }, /Unrecognized key: "id"/],
  ['todo_list', { limit: 1 }, /Unrecognized key: "limit"/],
  ['todo_add', { items: [{ text: 'c', id: 't1' }] }, /items\[0\]: Unrecognized key: "id"/],
  ['todo_add', { items: [] }, /^items: /],
  ['todo_add', { items: [{ state: 'done' }] }, /^items\[0\]\.text: /],
  ['todo_add', { ...plan('c'), before: 't9' }, /^before: there is no "t9"/],
  ['todo_add', { ...plan('c'), after: 't9' }, /^after: there is no "t9"/],
  [
    'todo_add',
    { ...plan('c'), after: 't1', before: 't2' },
    /^after: give before or after, not both/,
  ],
  ['todo_add', { items: [{ text: 'c', state: 'in_progress' }] }, /at most one may be/],
  ['todo_add', plan(...Array(199).fill('x')), /would have 201 items.*todo_clear with keep_open/],
  ['todo_update', { items: [{ id: 't1' }] }, /^items\[0\]: changes nothing; give state/],
  ['todo_update', { items: [{ id: 1, state: 'done' }] }, /^items\[0\]\.id: expected string/],
  ['todo_update', { items: [{ id: 't1', after: 't1' }] }, /t1 can not stand next to itself/],
  ['todo_update', { items: [{ id: 't1', text: '' }] }, /^items\[0\]\.text: is empty/],
  ['todo_update', { items: [{ id: '__proto__', state: 'done' }] }, /there is no "__proto__"/],
  [
    'todo_update',
    { items: [{ id: 't2', state: 'in_progress' }] },
    /t1 "a" and t2 "b" would be in progress/,
  ],
  [
    'todo_update',
    {
      items: [
        { id: 't1', state: 'done' },
        { id: 't1', state: 'pending' },
      ],
    },
    /"t1" is there twice/,
  ],
  ['todo_list', { all: 'yes' }, /^all: expected boolean/],
  ['todo_list', { after: 't9' }, /^after: there is no "t9" in the list$/],
  ['todo_clear', { keep_open: 1 }, /^keep_open: expected boolean/],
];

describe('input_invalid', () => {
  it.each(refused)('%s %j', async (name, args, says) => {
    const world = createTodoWorld();
    await world.text('todo_set', { items: [{ text: 'a', state: 'in_progress' }, { text: 'b' }] });
    const before = await world.stored();
    for (const dryRun of [true, false]) {
      const result = await world.run(name, args, { dryRun });
      expect(result).toMatchObject({
        ok: false,
        code: 'input_invalid',
        error: expect.stringMatching(says),
      });
    }
    expect(await world.stored()).toBe(before);
  });

  it('names the caps that an operator set', async () => {
    const caps = { max_items: 1, max_text_chars: 3, max_note_chars: 0 };
    const world = createTodoWorld({ settings: { todo: caps } });
    const result = await world.run('todo_set', {
      items: [{ text: 'abcd', note: 'x' }, { text: 'b' }],
    });
    expect(result).toMatchObject({
      error:
        'items[0].text: has 4 characters, at most 3 are allowed; items[0].note: has 1 characters, at most 0 are allowed; the list would have 2 items, at most 1 are allowed; todo_clear with keep_open removes the closed ones. Nothing was changed.',
    });
    await world.text('todo_set', plan('abc'));
    expect(await world.run('todo_add', plan('b'))).toMatchObject({ code: 'input_invalid' });
  });
});

describe('not_available', () => {
  const tools = createTodoTools().map(({ name }) => name);
  const argsOf = (name: string) => {
    if (name === 'todo_set' || name === 'todo_add') return plan('a');
    return name === 'todo_update' ? { items: [{ id: 't1', text: 'a' }] } : {};
  };

  it.each(tools)('%s without a store', async (name) => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(createTodoTools());
    const world = createTodoWorld();
    const [answer] = await registry.executeParallel(
      [{ toolCallId: '1', name, args: argsOf(name) }],
      {
        sessionId: 's',
        sessionKey: 'test:s',
        platform: 'test',
        workingDir: '/',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit: () => {},
      },
    );
    expect(answer?.result).toMatchObject({ ok: false, code: 'not_available' });
    expect(await world.stored()).toBeNull();
  });

  it.each([
    ['todo_set', { max_items: 0 }, 'max_items'],
    ['todo_add', { max_items: 501 }, 'max_items'],
    ['todo_update', { max_itmes: 5 }, 'max_itmes'],
    ['todo_list', { max_shown: 'all' }, 'max_shown'],
  ])('%s with the settings %j', async (name, settings, key) => {
    const world = createTodoWorld({ settings: { todo: settings } });
    expect(await world.run(name, argsOf(name))).toMatchObject({
      ok: false,
      code: 'not_available',
      error: expect.stringContaining(key),
    });
  });
});

describe('execution_failed', () => {
  it('tells the code of a store that fails, and the list is as it was', async () => {
    const { kvStoreFactory } = createInMemoryKvStore();
    let isFull = false;
    const world = createTodoWorld({
      kvStoreFactory: (tool, scopeId) => {
        const store = kvStoreFactory(tool, scopeId);
        return {
          get: (key) => store.get(key),
          set: (key, value) => {
            if (isFull) throw new EthosError('STORE_UNAVAILABLE', 'the disk is full');
            return store.set(key, value);
          },
          delete: (key) => store.delete(key),
          list: (prefix) => store.list(prefix),
        };
      },
    });
    await world.text('todo_set', plan('a'));
    isFull = true;
    expect(await world.run('todo_add', plan('b'))).toEqual({
      ok: false,
      code: 'execution_failed',
      error: 'STORE_UNAVAILABLE: the disk is full',
      cause: 'STORE_UNAVAILABLE',
    });
    isFull = false;
    expect(await world.text('todo_list', {})).toBe('Todo: 1 open.\n[ ] t1 a');
  });
});
