import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openRaw } from './fixtures/open-raw.js';
import { SNAPSHOT_READS } from './shared-reads.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

describe('reads that follow each other', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  /** A store with `k`, and a second connection to its file, as another process has it. */
  async function open() {
    const path = join(mkdtempSync(join(tmpdir(), 'shared-reads-')), 'kv.db');
    const store = createSqliteKvStore({ path });
    const other = openRaw(path);
    closers.push(
      () => store.close(),
      () => other.close(),
    );
    const kv = store.kvStoreFactory('test', 'scope');
    await kv.set('k', 'old');
    const update = other.prepare<[string]>("UPDATE kv SET value = ? WHERE key = 'k'");
    return { path, store, kv, other, write: (value: string) => update.run(value) };
  }

  it('see what another connection wrote in the turn of the event loop before', async () => {
    const { kv, write } = await open();
    // More reads in all than one snapshot has.
    for (let n = 0; n < 10; n++) {
      for (let reads = 0; reads < 10; reads++) await kv.get('k');
      await turn();
      write(`new ${n}`);
      expect(await kv.get('k')).toBe(`new ${n}`);
    }
  });

  it('see it without a turn of the event loop, too, after some reads', async () => {
    const { kv, write } = await open();
    for (let reads = 0; reads < 10; reads++) await kv.get('k');
    write('new');
    let reads = 0;
    while ((await kv.get('k')) !== 'new' && reads < 10 * SNAPSHOT_READS) reads++;
    expect(reads).toBeLessThanOrEqual(SNAPSHOT_READS);
  });

  it('see what their own store wrote, committed or not', async () => {
    const { kv } = await open();
    for (let reads = 0; reads < 10; reads++) await kv.get('k');
    const own = kv.set('k', 'own');
    expect(await kv.get('k')).toBe('own');
    await own;
    expect(await kv.list('')).toEqual(['k']);
    expect(await kv.increment('n')).toBe(1);
    expect(await kv.get('n')).toBe('1');
  });

  it('keep nothing open: later, the log can be emptied', async () => {
    const { path, kv, other } = await open();
    for (let reads = 0; reads < 10; reads++) await kv.get('k');
    await turn();
    other.pragma('wal_checkpoint(TRUNCATE)');
    expect(statSync(`${path}-wal`).size).toBe(0);
  });

  it('end with the store', async () => {
    const { store, kv } = await open();
    for (let reads = 0; reads < 10; reads++) await kv.get('k');
    const last = kv.set('k', 'last');
    store.close();
    await last;
    await expect(kv.get('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('go on after one that fails', async () => {
    const { kv, other } = await open();
    for (let reads = 0; reads < 10; reads++) await kv.get('k');
    await turn();
    other.exec('ALTER TABLE kv RENAME TO gone');
    for (let reads = 0; reads < 10; reads++) {
      await expect(kv.get('k')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    }
    other.exec('ALTER TABLE gone RENAME TO kv');
    await turn();
    expect(await kv.get('k')).toBe('old');
    await kv.set('k', 'new');
    expect(await kv.get('k')).toBe('new');
  });
});
