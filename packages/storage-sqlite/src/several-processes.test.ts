import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openRaw } from './fixtures/open-raw.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'kv-processes-')), 'new', 'kv.db');

describe('createSqliteKvStore in several processes', () => {
  it.runIf(existsSync('/proc/locks'))(
    'opening a file again in one process keeps the locks that tell others it is in use',
    async () => {
      const path = newPath();
      const first = createSqliteKvStore({ path });
      await first.kvStoreFactory('test', 'scope').set('k', 'v');
      const inode = `:${statSync(path).ino} `;
      const locks = () =>
        readFileSync('/proc/locks', 'utf8')
          .split('\n')
          .filter((line) => line.includes(inode)).length;
      expect(locks()).toBe(1);
      createSqliteKvStore({ path }).close();
      expect(locks()).toBe(1);
      first.close();
    },
  );
});

describe('createSqliteKvStore beside a process that holds the write lock', () => {
  function withLock(busyTimeoutMs: number) {
    const path = newPath();
    const store = createSqliteKvStore({ path, busyTimeoutMs });
    const other = openRaw(path);
    other.exec('BEGIN IMMEDIATE');
    return { store, other, kv: store.kvStoreFactory('test', 'a') };
  }

  it('a write waits for the lock without stopping the process, and other reads go on', async () => {
    const { store, other, kv } = withLock(30_000);
    let settled = false;
    const write = kv.set('k', 'v').then(() => {
      settled = true;
    });
    await delay(200);
    expect(await store.kvStoreFactory('test', 'b').get('k')).toBeNull();
    expect(settled).toBe(false);
    other.exec('ROLLBACK');
    await write;
    expect(await kv.get('k')).toBe('v');
    store.close();
    other.close();
  });

  it('writes keep their order when they had to wait', async () => {
    const { store, other, kv } = withLock(30_000);
    const early = [kv.set('k', '1'), kv.increment('k', 10)];
    await delay(50);
    const late = [kv.increment('k', 100), kv.get('k')];
    await delay(50);
    other.exec('ROLLBACK');
    expect(await Promise.all([...early, ...late])).toEqual([undefined, 11, 111, '111']);
    store.close();
    other.close();
  });

  it('busyTimeoutMs over is STORE_UNAVAILABLE, nothing is written, and later writes work', async () => {
    const { store, other, kv } = withLock(100);
    const refused = await Promise.allSettled([kv.set('k', 'v'), kv.increment('n')]);
    for (const outcome of refused) {
      expect(outcome).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE' } });
    }
    other.exec('ROLLBACK');
    expect([await kv.get('k'), await kv.get('n')]).toEqual([null, null]);
    expect(await kv.increment('n')).toBe(1);
    store.close();
    other.close();
  });

  it('close rejects what it could not write in time', async () => {
    const { store, other, kv } = withLock(50);
    const write = expect(kv.set('k', 'v')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.close();
    await write;
    other.close();
  });
});
