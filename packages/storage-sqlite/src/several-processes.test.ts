import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { runFixture, startFixture } from './fixtures/run-fixture.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const PROCESSES = 8;
const WRITES = 60;
const KILL_ROUNDS = 5;
const KILLED_A_ROUND = 4;

const newPath = () => join(mkdtempSync(join(tmpdir(), 'kv-processes-')), 'new', 'kv.db');

function integrityOf(path: string): unknown {
  const db = new Database(path);
  try {
    return db.pragma('integrity_check', { simple: true });
  } finally {
    db.close();
  }
}

describe('createSqliteKvStore in several processes', () => {
  it(`${PROCESSES} processes that create and write one file at once lose nothing`, async () => {
    const path = newPath();
    const ids = Array.from({ length: PROCESSES }, (_, i) => `p${i}`);
    await Promise.all(ids.map((id) => runFixture('count-up', [path, id, String(WRITES)])));

    const store = createSqliteKvStore({ path });
    const kv = store.kvStoreFactory('test', 'shared');
    expect(await kv.get('counter')).toBe(String(PROCESSES * WRITES * 2));
    expect((await kv.get('roll'))?.split(',')).toHaveLength((PROCESSES * WRITES) / 10);
    for (const id of ids) expect(await kv.list(`${id}:`)).toHaveLength(WRITES);
    store.close();
    expect(integrityOf(path)).toBe('ok');
  });

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

  it(`kill -9 of ${KILL_ROUNDS * KILLED_A_ROUND} writers loses nothing acknowledged`, async () => {
    const path = newPath();
    const acknowledged: string[] = [];
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const writers = Array.from({ length: KILLED_A_ROUND }, (_, i) =>
        startFixture('acknowledge', [path, `${round}.${i}`]),
      );
      await Promise.all(
        writers.map(async ({ child, lines, ended }) => {
          await vi.waitUntil(() => lines().length > 0 || child.exitCode !== null, {
            timeout: 60_000,
            interval: 5,
          });
          await delay(Math.random() * 60);
          child.kill('SIGKILL');
          expect(await ended).toMatchObject({ signal: 'SIGKILL', errors: '' });
          acknowledged.push(...lines());
        }),
      );
      // Read after every round, through the log that the killed ones left behind.
      const store = createSqliteKvStore({ path });
      const kv = store.kvStoreFactory('test', 'shared');
      for (const key of acknowledged) {
        expect((await kv.get(key))?.trimEnd().replace(/ x*$/, '')).toBe(`value of ${key}`);
      }
      expect(Number(await kv.get('counter'))).toBeGreaterThanOrEqual(acknowledged.length);
      store.close();
      expect(integrityOf(path)).toBe('ok');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_ROUNDS * KILLED_A_ROUND);
  });
});

describe('createSqliteKvStore beside a process that holds the write lock', () => {
  function withLock(busyTimeoutMs: number) {
    const path = newPath();
    const store = createSqliteKvStore({ path, busyTimeoutMs });
    const other = new Database(path);
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
