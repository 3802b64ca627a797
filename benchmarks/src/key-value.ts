import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import Database from 'better-sqlite3';
import { importPeer } from './peers.js';
import { sideBySide } from './side-by-side.js';

const NAMESPACE = 'tool:bench';
const ROWS = 100_000;

type Durability = 'full' | 'normal';

interface Axis {
  name: string;
  /** The least ratio of raw time to ours. */
  goal: number;
  raw: () => void | Promise<void>;
  ours: () => void | Promise<void>;
  /** Operations in one call of `raw` or `ours`. */
  operations: number;
}

/** The key-value store beside raw better-sqlite3: same schema, prepared, WAL, same `synchronous`. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-kv-'));
  const open = (durability: Durability) => ({
    raw: openRaw(join(folder, `raw-${durability}.db`), durability),
    store: createSqliteKvStore({
      path: join(folder, `ours-${durability}.db`),
      synchronous: durability,
    }),
  });
  const full = open('full');
  const normal = open('normal');
  const others = await openPeers(folder);
  try {
    const kv = normal.store.kvStoreFactory('bench', NAMESPACE);
    const durable = full.store.kvStoreFactory('bench', NAMESPACE);
    normal.raw.db.transaction(() => {
      for (let i = 0; i < ROWS; i++) normal.raw.set.run(NAMESPACE, keyAt(i), nextValue());
    })();
    await Promise.all(Array.from({ length: ROWS }, (_, i) => kv.set(keyAt(i), nextValue())));

    const axes: Axis[] = [
      {
        name: 'get',
        goal: 1,
        operations: 2_000,
        raw: () => {
          for (let i = 0; i < 2_000; i++) normal.raw.get.get(NAMESPACE, keyAt((i * 7919) % ROWS));
        },
        ours: async () => {
          for (let i = 0; i < 2_000; i++) await kv.get(keyAt((i * 7919) % ROWS));
        },
      },
      {
        name: 'list (100 of 100,000)',
        goal: 1,
        operations: 100,
        raw: () => {
          for (let i = 0; i < 100; i++) {
            const prefix = keyAt(i * 100).slice(0, -2);
            normal.raw.list.all(NAMESPACE, prefix, `${prefix.slice(0, -1)}${nextOf(prefix)}`);
          }
        },
        ours: async () => {
          for (let i = 0; i < 100; i++) await kv.list(keyAt(i * 100).slice(0, -2));
        },
      },
      {
        name: 'sequential set, normal',
        goal: 0.8,
        operations: 500,
        raw: () => {
          for (let i = 0; i < 500; i++) normal.raw.set.run(NAMESPACE, keyAt(i), nextValue());
        },
        ours: async () => {
          for (let i = 0; i < 500; i++) await kv.set(keyAt(i), nextValue());
        },
      },
      {
        name: 'sequential set, full',
        goal: 0.5,
        operations: 32,
        raw: () => {
          for (let i = 0; i < 32; i++) full.raw.set.run(NAMESPACE, keyAt(i), nextValue());
        },
        ours: async () => {
          for (let i = 0; i < 32; i++) await durable.set(keyAt(i), nextValue());
        },
      },
      {
        name: '64 sets at once, full',
        goal: 10,
        operations: 64,
        raw: () => {
          for (let i = 0; i < 64; i++) full.raw.set.run(NAMESPACE, keyAt(i), nextValue());
        },
        ours: async () => {
          await Promise.all(
            Array.from({ length: 64 }, (_, i) => durable.set(keyAt(i), nextValue())),
          );
        },
      },
    ];
    for (const { name, goal, operations, raw, ours } of axes) {
      await sideBySide(`Key-value: ${name}`, [
        { name: 'raw better-sqlite3', operations, run: raw },
        {
          name: 'kvStore',
          operations,
          run: ours,
          goal: { atMost: 1 / goal, of: 'raw better-sqlite3' },
        },
        ...others.flatMap(({ name: peer, runs }) => {
          const run = runs[name];
          return run === undefined ? [] : [{ name: peer, operations, run, beside: 'kvStore' }];
        }),
      ]);
    }
  } finally {
    for (const { close } of others) await close();
    for (const { raw, store } of [full, normal]) {
      raw.db.close();
      store.close();
    }
    rmSync(folder, { recursive: true });
  }
}

interface Peer {
  name: string;
  /** By the name of the axis. */
  runs: Record<string, () => Promise<unknown>>;
  close(): unknown;
}

/** lmdb, whose writes are on the disk when they resolve, and the drivers of unstorage for files. */
async function openPeers(folder: string): Promise<Peer[]> {
  const peers: Peer[] = [];
  const lmdb = (await importPeer('lmdb')) as Lmdb | undefined;
  if (lmdb !== undefined) {
    const db = lmdb.open({ path: join(folder, 'lmdb') });
    for (let i = 0; i < ROWS; i++) void db.put(keyAt(i), nextValue());
    await db.flushed;
    peers.push({
      name: 'lmdb',
      runs: {
        get: async () => {
          for (let i = 0; i < 2_000; i++) db.get(keyAt((i * 7919) % ROWS));
        },
        'sequential set, full': async () => {
          for (let i = 0; i < 32; i++) {
            await db.put(keyAt(i), nextValue());
            await db.flushed;
          }
        },
        '64 sets at once, full': async () => {
          for (let i = 0; i < 64; i++) void db.put(keyAt(i), nextValue());
          await db.flushed;
        },
      },
      close: () => db.close(),
    });
  }
  const unstorage = (await importPeer('unstorage')) as Unstorage | undefined;
  const driver = (await importPeer('unstorage', '/drivers/fs')) as FsDriver | undefined;
  if (unstorage !== undefined && driver !== undefined) {
    const storage = unstorage.createStorage({
      driver: driver.default({ base: join(folder, 'unstorage') }),
    });
    for (let i = 0; i < 500; i++) await storage.setItem(keyAt(i), nextValue());
    peers.push({
      name: 'unstorage, in files',
      runs: {
        get: async () => {
          for (let i = 0; i < 2_000; i++) await storage.getItem(keyAt((i * 7919) % 500));
        },
        'sequential set, normal': async () => {
          for (let i = 0; i < 500; i++) await storage.setItem(keyAt(i), nextValue());
        },
      },
      close: () => storage.dispose(),
    });
  }
  return peers;
}

/** What is used of the peers: their packages are not in the workspace, so neither are their types. */
interface Lmdb {
  open(options: { path: string }): {
    get(key: string): unknown;
    put(key: string, value: string): Promise<boolean>;
    readonly flushed: Promise<unknown>;
    close(): Promise<void>;
  };
}
interface Unstorage {
  createStorage(options: { driver: unknown }): {
    getItem(key: string): Promise<unknown>;
    setItem(key: string, value: string): Promise<void>;
    dispose(): Promise<void>;
  };
}
interface FsDriver {
  default(options: { base: string }): unknown;
}

function openRaw(path: string, durability: Durability) {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${durability}`);
  db.exec(
    `CREATE TABLE kv (
       namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
       PRIMARY KEY (namespace, key)
     ) STRICT, WITHOUT ROWID`,
  );
  return {
    db,
    get: db.prepare('SELECT value FROM kv WHERE namespace = ? AND key = ?').pluck(),
    list: db
      .prepare('SELECT key FROM kv WHERE namespace = ? AND key >= ? AND key < ? ORDER BY key')
      .pluck(),
    set: db.prepare(
      `INSERT INTO kv (namespace, key, value) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value`,
    ),
  };
}

let written = 0;

/** Another value every time: SQLite skips the write of what is there already. */
function nextValue(): string {
  return String(written++).padStart(100, 'v');
}

function keyAt(i: number): string {
  return `user:${String(i).padStart(6, '0')}`;
}

function nextOf(prefix: string): string {
  return String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
