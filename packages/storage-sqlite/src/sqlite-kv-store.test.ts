import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyValueConformance } from '@ethosagent/conformance';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openRaw } from './fixtures/open-raw.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'kv-')), 'kv.db');

keyValueConformance('createSqliteKvStore in a file', ({ clock }) =>
  createSqliteKvStore({ path: newPath(), clock }),
);
keyValueConformance('createSqliteKvStore in memory', ({ clock }) =>
  createSqliteKvStore({ path: ':memory:', clock }),
);

describe('createSqliteKvStore', () => {
  it('runs on an SQLite without the WAL-reset bug, 3.51.3 or newer', () => {
    const db = openRaw(':memory:');
    const version = String(db.prepareColumn('SELECT sqlite_version()').get());
    db.close();
    expect(version.localeCompare('3.51.3', 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
  });

  it.each([
    { path: '' },
    { synchronous: 'off' },
    { busyTimeoutMs: 0 },
    { busyTimeoutMs: Number.NaN },
    { sweepIntervalMs: Infinity },
    { sweepIntervalMs: 2 ** 31 },
    { maxKeyBytes: -1 },
    { maxValueBytes: 1.5 },
    { maxValueBytes: '10' },
  ])('refuses the options %j as CONFIG_INVALID', (wrong) => {
    const options = { path: ':memory:', ...wrong };
    expect(() => Reflect.apply(createSqliteKvStore, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  it('holds to maxKeyBytes and maxValueBytes, in bytes of UTF-8', async () => {
    const store = createSqliteKvStore({ path: ':memory:', maxKeyBytes: 6, maxValueBytes: 9 });
    const kv = store.kvStoreFactory('test', 'scope');
    await kv.set('€€', '€€€');
    expect(await kv.get('€€')).toBe('€€€');
    await expect(kv.set('€€a', '')).rejects.toMatchObject({ code: 'KEY_INVALID' });
    await expect(kv.list('€€a')).rejects.toMatchObject({ code: 'KEY_INVALID' });
    await expect(kv.set('', '€€€a')).rejects.toMatchObject({ code: 'VALUE_INVALID' });
    expect(() => store.kvStoreFactory('test', '€€a')).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID' }),
    );
    store.close();
  });

  it('holds values up to the default cap of 10 MiB, and no longer ones', async () => {
    const store = createSqliteKvStore({ path: newPath() });
    const kv = store.kvStoreFactory('test', 'scope');
    const largest = 'x'.repeat(10_485_760);
    await kv.set('k', largest);
    expect((await kv.get('k')) === largest).toBe(true);
    await expect(kv.set('k', `${largest}x`)).rejects.toMatchObject({ code: 'VALUE_INVALID' });
    store.close();
  });

  it('two stores on one file see what the other has committed', async () => {
    const path = newPath();
    const stores = [createSqliteKvStore({ path }), createSqliteKvStore({ path })];
    const [one, two] = stores.map((store) => store.kvStoreFactory('test', 'scope'));
    await one?.set('k', '1');
    expect(await two?.increment('k')).toBe(2);
    expect(await one?.get('k')).toBe('2');
    for (const store of stores) store.close();
  });

  it('64 sets at once are one transaction: the log grows by the pages, not by the sets', async () => {
    const path = newPath();
    const store = createSqliteKvStore({ path });
    const kv = store.kvStoreFactory('test', 'scope');
    const frames = () => Math.floor(statSync(`${path}-wal`).size / (4_096 + 24));
    await kv.set('first', 'v');
    const before = frames();
    await Promise.all(
      Array.from({ length: 64 }, async (_, i) => {
        // The calls of a batch don't all reach their write in the same microtask.
        for (let hops = 0; hops < i; hops++) await null;
        await kv.set(`k${i}`, 'v');
      }),
    );
    expect(frames() - before).toBeLessThan(5);
    store.close();
  });

  it('10,000 writes at once are all acknowledged and there', async () => {
    const store = createSqliteKvStore({ path: newPath() });
    const kv = store.kvStoreFactory('test', 'scope');
    await Promise.all(Array.from({ length: 10_000 }, (_, i) => kv.set(`k${i}`, String(i))));
    expect(await kv.list('k')).toHaveLength(10_000);
    expect(await kv.get('k9999')).toBe('9999');
    store.close();
  });

  it("a tool can't find the namespace or the database in what it is given", () => {
    const store = createSqliteKvStore({ path: ':memory:' });
    const kv = store.kvStoreFactory('test', 'scope');
    expect(Reflect.ownKeys(kv).map(String).sort()).toEqual(
      ['compareAndSet', 'delete', 'get', 'increment', 'list', 'set'].sort(),
    );
    store.close();
  });
});

describe('createSqliteKvStore expiry', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('the sweep removes expired rows from the file, and only those', async () => {
    const path = newPath();
    let now = 1_000_000;
    const store = createSqliteKvStore({ path, clock: () => now, sweepIntervalMs: 5 });
    const kv = store.kvStoreFactory('test', 'scope');
    await Promise.all([
      ...Array.from({ length: 1_200 }, (_, i) => kv.set(`short ${i}`, 'v', { ttlSeconds: 1 })),
      kv.set('long', 'v', { ttlSeconds: 3 }),
      kv.set('kept', 'v'),
    ]);
    const raw = openRaw(path, { readonly: true });
    const keys = raw.prepareColumn<[], string>('SELECT key FROM kv ORDER BY key');
    expect(keys.all()).toHaveLength(1_202);
    now += 1_000;
    await vi.waitUntil(() => keys.all().length <= 2, { timeout: 600_000 });
    expect(keys.all()).toEqual(['kept', 'long']);
    raw.close();
    store.close();
  });

  it('an expiry holds after close and open, and in other stores on the file', async () => {
    const path = newPath();
    let now = 1_000_000;
    const clock = () => now;
    const first = createSqliteKvStore({ path, clock });
    await first.kvStoreFactory('test', 'scope').set('k', 'v', { ttlSeconds: 1 });
    first.close();
    const second = createSqliteKvStore({ path, clock });
    const kv = second.kvStoreFactory('test', 'scope');
    expect(await kv.get('k')).toBe('v');
    now += 1_000;
    expect(await kv.get('k')).toBeNull();
    second.close();
  });

  it('takes the time from Date.now, and works, under fake timers', async () => {
    vi.useFakeTimers({ now: 5_000 });
    const store = createSqliteKvStore({ path: newPath() });
    const kv = store.kvStoreFactory('test', 'scope');
    await kv.set('k', 'v', { ttlSeconds: 1 });
    vi.setSystemTime(5_999);
    expect(await kv.get('k')).toBe('v');
    vi.setSystemTime(6_000);
    expect(await kv.get('k')).toBeNull();
    store.close();
  });
});

describe('SqliteKvStore.close', () => {
  it('commits the writes on their way, and later calls are STORE_UNAVAILABLE', async () => {
    const path = newPath();
    const store = createSqliteKvStore({ path });
    const kv = store.kvStoreFactory('test', 'scope');
    const onTheirWay = Promise.all([kv.set('k', 'v'), kv.increment('n', 7), kv.get('k')]);
    store.close();
    store.close();
    expect(await onTheirWay).toEqual([undefined, 7, 'v']);

    const refused = { code: 'STORE_UNAVAILABLE' };
    await expect(kv.get('k')).rejects.toMatchObject(refused);
    await expect(kv.set('k', 'x')).rejects.toMatchObject(refused);
    await expect(kv.delete('k')).rejects.toMatchObject(refused);
    await expect(kv.list('')).rejects.toMatchObject(refused);
    await expect(kv.increment('n')).rejects.toMatchObject(refused);
    await expect(kv.compareAndSet('k', 'v', 'x')).rejects.toMatchObject(refused);
    expect(() => store.kvStoreFactory('test', 'scope')).toThrow(expect.objectContaining(refused));

    const again = createSqliteKvStore({ path });
    expect(await again.kvStoreFactory('test', 'scope').get('k')).toBe('v');
    again.close();
  });
});
