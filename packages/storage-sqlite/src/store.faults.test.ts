import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCodeOf } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runFixture, startFixture } from './fixtures/run-fixture.js';
import { createSqliteKvStore, type SqliteKvStore } from './sqlite-kv-store.js';

let dir: string;
let path: string;
const open: SqliteKvStore[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kv-faults-'));
  path = join(dir, 'kv.db');
});
afterEach(() => {
  for (const store of open.splice(0)) store.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(options: { busyTimeoutMs?: number } = {}) {
  const store = createSqliteKvStore({ path, ...options });
  open.push(store);
  return { store, kv: store.kvStoreFactory('test', 'scope') };
}

describe('createSqliteKvStore whose files change while it is open', () => {
  const aside = () => join(dir, 'aside');
  const move = (name: string) => () => {
    renameSync(join(dir, name), aside());
    return () => renameSync(aside(), join(dir, name));
  };
  const replaceBy = (make: () => void) => () => {
    renameSync(path, aside());
    make();
    return () => renameSync(aside(), path);
  };
  it.each<[string, () => () => void]>([
    ['the database is moved away', move('kv.db')],
    ['its log is moved away', move('kv.db-wal')],
    [
      'the database is replaced by another store',
      replaceBy(() => {
        const other = join(dir, 'other.db');
        createSqliteKvStore({ path: other }).close();
        renameSync(other, path);
      }),
    ],
    ['the database is replaced by a copy', replaceBy(() => copyFileSync(aside(), path))],
    ['the database is replaced by a text', replaceBy(() => writeFileSync(path, 'text'))],
  ])(
    '%s: writes are refused, nothing is lost, and they work when it is back',
    async (_, change) => {
      const { kv } = start();
      await kv.set('before', 'kept');
      const restore = change();
      const refused = await Promise.allSettled([
        kv.set('k', 'v'),
        kv.increment('n'),
        kv.delete('before'),
      ]);
      for (const outcome of refused) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('put it back') },
        });
      }
      restore();
      expect(await kv.list('')).toEqual(['before']);
      await kv.set('after', 'v');
      for (const store of open.splice(0)) store.close();
      expect(await start().kv.list('')).toEqual(['after', 'before']);
    },
  );

  it('all its files are removed: writes are refused, and a new store begins afresh', async () => {
    const { kv, store } = start();
    await kv.set('before', 'gone');
    for (const name of readdirSync(dir)) rmSync(join(dir, name));
    await expect(kv.set('k', 'v')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    open.pop();
    store.close();
    const { kv: fresh } = start();
    expect(await fresh.list('')).toEqual([]);
    await fresh.set('k', 'v');
    expect(await fresh.get('k')).toBe('v');
  });

  it.each([
    ['the header', () => 10],
    ['the first frame', () => 40],
    ['a frame', () => 5_000],
    ['the middle', (size: number) => Math.floor(size / 2)],
    ['the end', (size: number) => size - 10],
  ])('a log damaged in %s: what is found is what was committed before that', async (_, place) => {
    const { kv } = start();
    const keys = Array.from({ length: 40 }, (_, index) => `k${index + 10}`);
    for (const key of keys) await kv.set(key, key);
    const damaged = join(dir, 'damaged.db');
    copyFileSync(path, damaged);
    const log = readFileSync(`${path}-wal`);
    log.fill(7, place(log.length), place(log.length) + 5);
    writeFileSync(`${damaged}-wal`, log);
    const store = createSqliteKvStore({ path: damaged });
    open.push(store);
    const found = await store.kvStoreFactory('test', 'scope').list('');
    expect(found.length).toBeLessThan(keys.length);
    expect(found).toEqual(keys.slice(0, found.length));
  });
});

describe('createSqliteKvStore beside another process', () => {
  it.each(['IMMEDIATE', 'EXCLUSIVE'])(
    'that holds the lock (%s) for longer than busyTimeoutMs: it opens and reads, and writes when the other is gone',
    async (kind) => {
      createSqliteKvStore({ path }).close();
      const holder = await startFixture('hold-lock', [path, kind]);
      await vi.waitUntil(() => holder.lines().length > 0, { timeout: 600_000 });
      const { kv } = start({ busyTimeoutMs: 50 });
      expect(await kv.get('k')).toBeNull();
      await expect(kv.set('k', 'v')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('try again later'),
      });
      holder.child.kill('SIGKILL');
      await holder.ended;
      expect(await kv.get('k')).toBeNull();
      await kv.set('k', 'v');
      expect(await kv.get('k')).toBe('v');
    },
  );
});

describe('createSqliteKvStore on a full disk', () => {
  it('refuses what does not fit, keeps what it acknowledged, and works again with some space', async () => {
    const [line = ''] = await runFixture('full-disk', [dir], {
      smallDisk: { at: dir, kilobytes: 1_000 },
    });
    const facts = JSON.parse(line);
    const full = /^STORE_UNAVAILABLE: .* free some disk space and try again$/;
    expect(facts.other).toMatch(full);
    expect(facts.refused).toMatch(full);
    expect(facts.read).toBe('kept');
    const counted = typeof facts.counted === 'number' ? ['n'] : [];
    expect(facts.kept).toEqual(['before', ...facts.acknowledged, ...counted].sort());
    expect(facts.again).toMatch(
      /^opened$|^STORE_UNAVAILABLE: .* free some disk space .*try again$/,
    );
    expect(facts.after).toBe(2_000);
  });
});

describe('createSqliteKvStore without descriptors', () => {
  it('does not open, leaves what is open alone, and opens when there are some', async () => {
    const [line = ''] = await runFixture('no-descriptors', [dir], { openFiles: 64 });
    const { refused, kept } = JSON.parse(line);
    for (const text of refused) expect(text).toMatch(/^\d (opened$|STORE_UNAVAILABLE: .*; .{10})/);
    expect(refused[0]).toContain('STORE_UNAVAILABLE');
    expect(refused.at(-1)).toBe('6 opened');
    expect(kept).toEqual(['before', 'meanwhile']);
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});

describe('errors of createSqliteKvStore', () => {
  it('hold neither the path nor a key nor a value', async () => {
    const { kv } = start();
    await kv.set('key-of-mine', 'value-of-mine');
    renameSync(path, join(dir, 'aside'));
    const error: unknown = await kv.set('key-of-mine', 'value-of-mine').catch((e: unknown) => e);
    expect(errorCodeOf(error)).toBe('STORE_UNAVAILABLE');
    expect(String(error)).not.toMatch(/of-mine|kv\.db|tmp/);
    renameSync(join(dir, 'aside'), path);
  });
});
