import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSqliteKvStore } from './sqlite-kv-store.js';
import { createSqliteMemory } from './sqlite-memory.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';
import { createSqliteTurns } from './sqlite-turns.js';

type Method = 'run' | 'get' | 'all' | 'iterate';
type Statements = Record<Method, (...values: unknown[]) => unknown>;

const BetterSqlite: new (path: string) => Database = createRequire(import.meta.url)(
  'better-sqlite3',
);
const database = new BetterSqlite(':memory:');
const statements: Statements = Object.getPrototypeOf(database.prepare('SELECT 1'));
const METHODS: readonly Method[] = ['run', 'get', 'all', 'iterate'];

let count = 0;
const prepared: string[] = [];
beforeAll(() => {
  const databases: Pick<Database, 'prepare'> = BetterSqlite.prototype;
  const { prepare } = databases;
  vi.spyOn(databases, 'prepare').mockImplementation(function (this: unknown, source) {
    prepared.push(source);
    return Reflect.apply(prepare, this, [source]);
  });
  for (const method of METHODS) {
    const own = statements[method];
    vi.spyOn(statements, method).mockImplementation(function (this: unknown, ...values) {
      count++;
      return Reflect.apply(own, this, values);
    });
  }
});
afterAll(() => {
  vi.restoreAllMocks();
  database.close();
});

describe('how many statements the key-value store runs', () => {
  const store = createSqliteKvStore({ path: ':memory:', driver: 'better-sqlite3' });
  const kv = store.kvStoreFactory('test', 'scope');
  afterAll(() => store.close());
  beforeEach(async () => {
    await kv.set('key', '1');
    count = 0;
  });

  it.each<[string, number, () => unknown]>([
    ['a get', 1, () => kv.get('key')],
    ['a get of nothing', 1, () => kv.get('nothing')],
    ['a list', 1, () => kv.list('k')],
    // Two statements of each change are BEGIN and COMMIT.
    ['a set', 3, () => kv.set('key', '2')],
    ['a delete', 3, () => kv.delete('key')],
    ['an increment', 4, () => kv.increment('key')],
    ['a compareAndSet', 4, () => kv.compareAndSet('key', '1', '2')],
    ['a compareAndSet that loses', 3, () => kv.compareAndSet('key', '7', '2')],
  ])('for %s: %i', async (_name, statements, run) => {
    await run();
    expect(count).toBe(statements);
  });

  it.each([8, 64, 256])('one transaction for %i sets at once', async (sets) => {
    await Promise.all(Array.from({ length: sets }, (_, n) => kv.set(`key ${n}`, 'value')));
    expect(count).toBe(sets + 2);
  });

  it('two more for each 64 gets in a row: BEGIN and COMMIT', async () => {
    for (let gets = 0; gets < 640; gets++) await kv.get('key');
    await turn();
    expect(count).toBe(640 + 2 * 10);
  });

  it.each([10, 100, 1_000])('one for a list of %i keys', async (keys) => {
    await Promise.all(Array.from({ length: keys }, (_, n) => kv.set(`of ${keys}: ${n}`, 'value')));
    count = 0;
    expect(await kv.list(`of ${keys}: `)).toHaveLength(keys);
    expect(count).toBe(1);
  });
});

describe('which statements SQLite compiles again for each use', () => {
  it('none: a number of rows is bound where SQLite does not plan for it', async () => {
    prepared.length = 0;
    const options = { path: ':memory:', driver: 'better-sqlite3' } as const;
    const sessions = createSqliteSessionStore(options);
    const stores = [sessions, createSqliteKvStore(options), createSqliteMemory(options)];
    await sessions.search('a word');
    for (const store of [...stores, createSqliteTurns(options)]) store.close();
    const limited = prepared.filter((sql) => /\blimit\b/i.test(sql));
    expect(limited.length).toBeGreaterThan(5);
    expect(limited.filter((sql) => /\blimit\s+[?:@$]/i.test(sql))).toEqual([]);
  });
});
