import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '@ethosagent/conformance/attacks';
import { createInMemoryKvStore } from '@ethosagent/core';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { bundleScript, inCheck, isLongRun } from '@ethosagent/test-support';
import type { KeyValueStore } from '@ethosagent/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Call, createTodoWorld, plan, type TodoWorldOptions } from './fixtures/todo-world.js';

type Factory = NonNullable<TodoWorldOptions['kvStoreFactory']>;

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tools-todo-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'kv.db');
}

function sqlite(path = newFile()) {
  const store = createSqliteKvStore({ path });
  onTestFinished(() => store.close());
  return store;
}

/** A store of the four methods, each of which takes a while. */
function plainStore(): Factory {
  const { kvStoreFactory } = createInMemoryKvStore();
  const pause = () => new Promise((done) => setImmediate(done));
  return (tool, scopeId): KeyValueStore => {
    const store = kvStoreFactory(tool, scopeId);
    return {
      get: async (key) => {
        const value = await store.get(key);
        await pause();
        return value;
      },
      set: async (key, value) => {
        await pause();
        await store.set(key, value);
      },
      delete: (key) => store.delete(key),
      list: (prefix) => store.list(prefix),
    };
  };
}

const stores: [string, () => Factory][] = [
  ['in memory', () => createInMemoryKvStore().kvStoreFactory],
  ['in SQLite', () => sqlite().kvStoreFactory],
  ['of four methods', plainStore],
];

describe.each(inCheck(stores, ([where]) => where === 'in SQLite'))(
  'a list in a store %s',
  (_where, create) => {
    it('keeps what 50 calls of one batch add, in the order of the calls', async () => {
      const world = createTodoWorld({ kvStoreFactory: create() });
      const calls = Array.from({ length: 50 }, (_, index): Call => ['todo_add', plan(`${index}`)]);
      for (const result of await world.runAll(calls)) expect(result).toMatchObject({ ok: true });
      expect(await world.items()).toEqual(
        calls.map((_, index) => ({ id: `t${index + 1}`, text: `${index}`, state: 'pending' })),
      );
    });

    it('lets a batch of different calls each see what those before it did', async () => {
      const world = createTodoWorld({ kvStoreFactory: create() });
      const results = await world.runAll([
        ['todo_set', plan('a', 'b')],
        ['todo_update', { items: [{ id: 't1', state: 'in_progress' }] }],
        ['todo_update', { items: [{ id: 't2', state: 'in_progress' }] }],
        ['todo_update', { items: [{ id: 't1', state: 'done' }] }],
        ['todo_update', { items: [{ id: 't2', state: 'in_progress' }] }],
        ['todo_list', { all: true }],
      ]);
      expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true, true, true]);
      expect(results.at(-1)).toMatchObject({
        value: 'Todo: 1 open (1 in progress), 1 done.\n[x] t1 a\n[>] t2 b',
      });
    });

    it('keeps the lists of two sessions apart that work at once', async () => {
      const world = createTodoWorld({ kvStoreFactory: create() });
      const batch = (session: string) =>
        world.runAll(
          Array.from({ length: 10 }, (_, index): Call => ['todo_add', plan(`${session}${index}`)]),
          { sessionId: session },
        );
      await Promise.all([batch('a'), batch('b')]);
      for (const session of ['a', 'b']) {
        const items = await world.items(session);
        expect(items.map(({ text }) => text)).toEqual(
          Array.from({ length: 10 }, (_, index) => `${session}${index}`),
        );
      }
    });
  },
);

describe('a list in a SQLite file', () => {
  it('survives a restart, and its ids go on', async () => {
    const path = newFile();
    const first = createSqliteKvStore({ path });
    const before = createTodoWorld({ kvStoreFactory: first.kvStoreFactory });
    await before.text('todo_set', {
      items: [{ text: 'żółć', state: 'done', note: 'a\nb' }, { text: 'b' }],
    });
    const listing = await before.text('todo_list', { all: true });
    first.close();
    const after = createTodoWorld({ kvStoreFactory: sqlite(path).kvStoreFactory });
    expect(await after.text('todo_list', { all: true })).toBe(listing);
    expect(await after.text('todo_add', plan('c'))).toContain('Added t3.');
  });

  it.runIf(isLongRun())('takes the longest list that settings allow', async () => {
    const caps = { max_items: 500, max_text_chars: 1_000, max_note_chars: 2_000 };
    const world = createTodoWorld({
      kvStoreFactory: sqlite().kvStoreFactory,
      settings: { todo: caps },
    });
    const item = { text: '漢'.repeat(1_000), note: '漢'.repeat(2_000) };
    await world.text('todo_set', { items: Array(500).fill(item) });
    expect(await world.text('todo_list', {})).toMatch(/^Todo: 500 open\.\n/);
  });

  it.runIf(isLongRun())('keeps what two processes add at once, under different ids', async () => {
    const path = newFile();
    sqlite(path);
    const file = await bundleScript(new URL('./fixtures/add-items.ts', import.meta.url));
    const names = ['one', 'two'];
    const failed = await Promise.all(
      names.map((name) => runScript(file, { args: [path, name, '50'] })),
    );
    expect(failed.flat()).toEqual(['[]', '[]']);
    const world = createTodoWorld({ kvStoreFactory: sqlite(path).kvStoreFactory });
    const items = await world.items('shared');
    expect(new Set(items.map(({ id }) => id)).size).toBe(100);
    for (const name of names) {
      const own = items.flatMap(({ text }) => (text.startsWith(name) ? [text] : []));
      expect(own).toEqual(Array.from({ length: 50 }, (_, index) => `${name} ${index}`));
    }
  });
});

describe('a store that others write to all the time', () => {
  const { kvStoreFactory } = createInMemoryKvStore();
  const busy =
    (isBusy: () => boolean): Factory =>
    (tool, scopeId) => {
      const store = kvStoreFactory(tool, scopeId);
      return {
        ...bound(store),
        compareAndSet: async (...args) => (isBusy() ? false : store.compareAndSet(...args)),
      };
    };

  it('is tried again until nobody comes in between', async () => {
    let losses = 5;
    const world = createTodoWorld({ kvStoreFactory: busy(() => losses-- > 0) });
    await world.text('todo_set', plan('a'));
    expect(await world.items()).toHaveLength(1);
  });

  it('is given up in the end, and the answer says so', async () => {
    const world = createTodoWorld({ kvStoreFactory: busy(() => true) });
    const result = await world.run('todo_add', plan('b'));
    expect(result).toMatchObject({ code: 'execution_failed', error: /change the todo list/ });
  });

  it('stops when the turn is aborted', async () => {
    const turn = new AbortController();
    let tries = 0;
    const world = createTodoWorld({
      kvStoreFactory: busy(() => {
        tries += 1;
        if (tries === 3) turn.abort();
        return true;
      }),
    });
    const result = await world.run('todo_add', plan('c'), { abortSignal: turn.signal });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    await new Promise((done) => setTimeout(done, 50));
    expect(tries).toBe(3);
  });
});

function bound(store: Required<KeyValueStore>): Required<KeyValueStore> {
  return {
    get: (...args) => store.get(...args),
    set: (...args) => store.set(...args),
    delete: (...args) => store.delete(...args),
    list: (...args) => store.list(...args),
    increment: (...args) => store.increment(...args),
    compareAndSet: (...args) => store.compareAndSet(...args),
  };
}
