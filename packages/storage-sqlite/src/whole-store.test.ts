import { describe, expect, it } from 'vitest';
import { createSqliteKvStore, type SqliteKvEntry } from './sqlite-kv-store.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';

describe('SqliteKvStore.entries', () => {
  it('gives each entry of all namespaces once, in pages, without what has expired', async () => {
    let now = 1_000;
    const { kvStoreFactory, entries, close } = createSqliteKvStore({
      path: ':memory:',
      clock: () => now,
    });
    const wanted: string[] = [];
    for (const scope of ['a', 'a\0b', 'b', '\u{1f600}']) {
      for (let n = 0; n < 300; n++) {
        await kvStoreFactory('t', scope).set(`k${n}`, `v${n}`);
        wanted.push(`${scope} k${n} v${n}`);
      }
    }
    await kvStoreFactory('t', 'b').set('soon', 'x', { ttlSeconds: 5 });
    await kvStoreFactory('t', 'z').set('gone', 'x', { ttlSeconds: 1 });
    now += 2_000;
    const found: SqliteKvEntry[] = [];
    for await (const entry of entries()) found.push(entry);
    const rest = found.filter(({ expiresAt }) => expiresAt === undefined);
    expect(rest.map(({ scopeId, key, value }) => `${scopeId} ${key} ${value}`).sort()).toEqual(
      wanted.sort(),
    );
    expect(found.filter(({ expiresAt }) => expiresAt !== undefined)).toEqual([
      { scopeId: 'b', key: 'soon', value: 'x', expiresAt: 6_000 },
    ]);
    close();
  });
});

describe('SqliteSessionStore.ids', () => {
  it('gives each id once, in pages', async () => {
    const sessions = createSqliteSessionStore({ path: ':memory:' });
    const wanted = Array.from({ length: 1_100 }, (_, n) => `s${n}`);
    await Promise.all(
      wanted.map((id) => sessions.append({ id, scopeId: 'x' }, [{ role: 'user', text: id }])),
    );
    const found: string[] = [];
    for await (const id of sessions.ids()) found.push(id);
    expect(found.sort()).toEqual(wanted.sort());
    sessions.close();
  });
});
