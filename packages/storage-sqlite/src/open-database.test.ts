import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { canTrace, isLongRun } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Connection } from './driver/connection.js';
import { openRaw } from './fixtures/open-raw.js';
import { runFixture } from './fixtures/run-fixture.js';
import { KV_SCHEMA } from './kv-schema.js';
import { openDatabase } from './open-database.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const newFolder = () => mkdtempSync(join(tmpdir(), 'kv-open-'));

/** A closed store with 50 entries, some of them larger than a page. */
async function makeStore(path = join(newFolder(), 'kv.db')): Promise<string> {
  const store = createSqliteKvStore({ path });
  const kv = store.kvStoreFactory('test', 'scope');
  await Promise.all(
    Array.from({ length: 50 }, (_, i) => kv.set(`key ${i}`, `${i} `.repeat(i * 100))),
  );
  store.close();
  return path;
}

function change(path: string, edit: (bytes: Buffer) => Buffer | undefined): void {
  const bytes = readFileSync(path);
  writeFileSync(path, edit(bytes) ?? bytes);
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function codeOfOpening(path: string): string {
  try {
    createSqliteKvStore({ path }).close();
  } catch (error) {
    return errorCodeOf(error) ?? String(error);
  }
  return 'opened';
}

function withRaw(path: string, use: (db: Connection) => void): void {
  const db = openRaw(path);
  use(db);
  db.close();
}

describe('createSqliteKvStore creates', () => {
  it('the file with 0600 and missing folders with 0700, and nothing else', async () => {
    const path = join(newFolder(), 'a', 'b', 'kv.db');
    const store = createSqliteKvStore({ path });
    await store.kvStoreFactory('test', 'scope').set('k', 'v');
    expect(readdirSync(dirname(path)).sort()).toEqual(['kv.db', 'kv.db-shm', 'kv.db-wal']);
    for (const name of readdirSync(dirname(path))) {
      expect(statSync(join(dirname(path), name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
    store.close();
    expect(readdirSync(dirname(path))).toEqual(['kv.db']);
  });

  it.each(['file:x?mode=memory', 'a b#c%20?d', "it's", ':memory:x', '-wal'])(
    'a file of the name %j',
    async (name) => {
      const path = join(newFolder(), name);
      await makeStore(path);
      expect(readdirSync(dirname(path))).toEqual([name]);
      expect(codeOfOpening(path)).toBe('opened');
    },
  );

  it('the file, and removes the drafts that killed processes left of it', async () => {
    const folder = newFolder();
    const draft = `kv.db.${randomUUID()}.new`;
    const kept = ['kv.db.backup.new', `other.db.${randomUUID()}.new`];
    for (const name of [draft, `${draft}-journal`, ...kept]) writeFileSync(join(folder, name), '');
    await makeStore(join(folder, 'kv.db'));
    expect(readdirSync(folder).sort()).toEqual(['kv.db', ...kept].sort());
  });

  it('no second file where another process was first, and removed the draft', () => {
    const path = join(newFolder(), 'kv.db');
    const [first, ...others] = KV_SCHEMA.migrations;
    const whenAnotherWasFirst = (db: Connection) => {
      createSqliteKvStore({ path }).close();
      if (typeof first === 'string') db.exec(first);
      else first?.(db);
    };
    const schema = { ...KV_SCHEMA, migrations: [whenAnotherWasFirst, ...others] };
    openDatabase({ path, synchronous: 'full', schema }).close();
    expect(readdirSync(dirname(path))).toEqual(['kv.db']);
    expect(codeOfOpening(path)).toBe('opened');
  });

  it('a store that is kept: an entry is there again after close and open', async () => {
    const store = createSqliteKvStore({ path: await makeStore() });
    expect(await store.kvStoreFactory('test', 'scope').get('key 3')).toBe('3 '.repeat(300));
    store.close();
  });

  it('a file in WAL mode, also of one that somebody took out of it', async () => {
    const path = await makeStore();
    withRaw(path, (db) => expect(db.pragma('journal_mode')).toBe('wal'));
    withRaw(path, (db) => db.pragma('journal_mode = DELETE'));
    expect(codeOfOpening(path)).toBe('opened');
    withRaw(path, (db) => expect(db.pragma('journal_mode')).toBe('wal'));
  });

  it.each([
    ['full', 2],
    ['normal', 1],
  ] as const)('a connection with synchronous %s', async (synchronous, level) => {
    const db = openDatabase({ path: await makeStore(), synchronous, schema: KV_SCHEMA });
    expect(db.pragma('synchronous')).toBe(level);
    db.close();
  });
});

describe('createSqliteKvStore refuses, and leaves untouched,', () => {
  const raw = (sql: string) => (path: string) => withRaw(path, (db) => db.exec(sql));
  it.each<[string, string, (path: string) => void]>([
    ['an empty file', 'STORE_CORRUPT', (path) => writeFileSync(path, '')],
    ['a text', 'STORE_CORRUPT', (path) => writeFileSync(path, 'hello\n'.repeat(5_000))],
    ['a file of zeros', 'STORE_CORRUPT', (path) => writeFileSync(path, Buffer.alloc(8_192))],
    ['the magic alone', 'STORE_CORRUPT', (path) => change(path, (bytes) => bytes.subarray(0, 16))],
    ['a header alone', 'STORE_CORRUPT', (path) => change(path, (bytes) => bytes.subarray(0, 100))],
    ['a first page', 'STORE_CORRUPT', (path) => change(path, (bytes) => bytes.subarray(0, 4_096))],
    [
      'a first half',
      'STORE_CORRUPT',
      (path) => change(path, (bytes) => bytes.subarray(0, bytes.length / 2)),
    ],
    ['a byte less', 'STORE_CORRUPT', (path) => change(path, (bytes) => bytes.subarray(0, -1))],
    [
      'a page of zeros in the middle',
      'STORE_CORRUPT',
      (path) => change(path, (bytes) => bytes.fill(0, 4_096, 8_192)),
    ],
    ['a page size of 3', 'STORE_CORRUPT', (path) => change(path, (bytes) => bytes.fill(3, 16, 18))],
    ['a store without its table', 'STORE_CORRUPT', raw('DROP TABLE kv')],
    ['a store without a version', 'STORE_CORRUPT', raw('PRAGMA user_version = 0')],
    ['a store with a negative version', 'STORE_CORRUPT', raw('PRAGMA user_version = -1')],
    ["another program's database", 'STORE_CORRUPT', raw('PRAGMA application_id = 1')],
    ['a database without application', 'STORE_CORRUPT', raw('PRAGMA application_id = 0')],
    ['a newer store', 'STORE_NEWER', raw('PRAGMA user_version = 2')],
    ['a much newer store', 'STORE_NEWER', raw('PRAGMA user_version = 2147483647')],
    [
      'a newer store of another shape',
      'STORE_NEWER',
      raw('DROP TABLE kv; PRAGMA user_version = 3'),
    ],
  ])('%s (%s)', async (_name, code, damage) => {
    const path = await makeStore();
    damage(path);
    const before = digestOf(path);
    const files = readdirSync(dirname(path));
    expect(codeOfOpening(path)).toBe(code);
    expect(digestOf(path)).toBe(before);
    expect(readdirSync(dirname(path))).toEqual(files);
  });

  it.each<[string, (path: string) => void]>([
    ['is damaged', (path) => writeFileSync(path, 'hello\n'.repeat(5_000))],
    ['is empty', (path) => writeFileSync(path, '')],
    ['has version 2147483647', raw('PRAGMA user_version = 2147483647')],
  ])(
    'and names the file where it %s, since an operator has to look at it',
    async (says, damage) => {
      const path = await makeStore();
      damage(path);
      expect(() => createSqliteKvStore({ path })).toThrow(`the database ${path} ${says}`);
    },
  );

  it('a store whose log says that it is newer', async () => {
    const path = await makeStore();
    const newer = openRaw(path);
    newer.pragma('user_version = 2');
    const before = [digestOf(path), digestOf(`${path}-wal`)];
    expect(codeOfOpening(path)).toBe('STORE_NEWER');
    expect([digestOf(path), digestOf(`${path}-wal`)]).toEqual(before);
    newer.close();
  });

  it('a newer store behind a link', async () => {
    const path = await makeStore();
    const link = join(newFolder(), 'link.db');
    symlinkSync(path, link);
    expect(codeOfOpening(link)).toBe('opened');
    const newer = openRaw(path);
    newer.pragma('user_version = 2');
    const before = digestOf(path);
    expect(codeOfOpening(link)).toBe('STORE_NEWER');
    expect(digestOf(path)).toBe(before);
    newer.close();
  });

  it("another program's database with the log of a crash", async () => {
    const folder = newFolder();
    const other = openRaw(join(folder, 'live.db'));
    other.pragma('journal_mode = WAL');
    other.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    const path = join(folder, 'kv.db');
    copyFileSync(join(folder, 'live.db'), path);
    copyFileSync(join(folder, 'live.db-wal'), `${path}-wal`);
    other.close();
    const before = [digestOf(path), digestOf(`${path}-wal`)];
    expect(codeOfOpening(path)).toBe('STORE_CORRUPT');
    expect([digestOf(path), digestOf(`${path}-wal`)]).toEqual(before);
  });

  it('a truncated store beside the log of a process that was killed', async () => {
    const path = await makeStore();
    const store = createSqliteKvStore({ path });
    await store.kvStoreFactory('test', 'scope').set('k', 'v');
    const copy = join(newFolder(), 'kv.db');
    writeFileSync(copy, readFileSync(path).subarray(0, 8_192));
    writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`));
    store.close();
    const before = [digestOf(copy), digestOf(`${copy}-wal`)];
    expect(codeOfOpening(copy)).toBe('STORE_CORRUPT');
    expect([digestOf(copy), digestOf(`${copy}-wal`)]).toEqual(before);
  });

  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const edit = fc.record({
    at: share,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    cutTo: fc.option(share, { freq: 4 }),
  });
  let original: Buffer | undefined;
  fuzz(
    'any store with some bytes changed, unless the change can do no harm',
    edit,
    async ({ at, bytes, cutTo }) => {
      original ??= readFileSync(await makeStore());
      const { length } = original;
      const path = join(newFolder(), 'kv.db');
      const damaged = Buffer.from(original);
      const start = Math.floor(at * length);
      damaged.set(bytes.subarray(0, length - start), start);
      const content = damaged.subarray(0, cutTo === null ? length : Math.floor(cutTo * length));
      writeFileSync(path, content);
      const code = codeOfOpening(path);
      expect(code).toMatch(/^(opened|STORE_CORRUPT|STORE_NEWER)$/);
      if (code === 'opened') expect(content.length).toBe(length);
      else expect(readFileSync(path).equals(content)).toBe(true);
      rmSync(dirname(path), { recursive: true });
    },
    { promised: 'key-value', runs: { check: 40, long: 10_000 } },
  );
});

describe('createSqliteKvStore meets damage', () => {
  it('a log of random bytes is as none: what was checkpointed is there', async () => {
    const path = await makeStore();
    writeFileSync(`${path}-wal`, Buffer.alloc(20_000, 'garbage'));
    const store = createSqliteKvStore({ path });
    expect(await store.kvStoreFactory('test', 'scope').list('key')).toHaveLength(50);
    store.close();
  });

  it.runIf(isLongRun())('in a large file only when it reads it, as STORE_CORRUPT', async () => {
    const path = join(newFolder(), 'kv.db');
    const store = createSqliteKvStore({ path, synchronous: 'normal' });
    const kv = store.kvStoreFactory('test', 'scope');
    for (const key of ['a', 'b', 'c', 'd', 'e']) await kv.set(key, key.repeat(10_000_000));
    store.close();
    change(path, (bytes) => bytes.fill(7, 4_096, 8_192));
    const damaged = createSqliteKvStore({ path });
    const reread = damaged.kvStoreFactory('test', 'scope');
    await expect(reread.get('a')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(reread.list('')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(reread.set('a', '1')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    damaged.close();
  });
});

describe('createSqliteKvStore is STORE_UNAVAILABLE for', () => {
  it.each<[string, (folder: string) => string]>([
    ['a folder', (folder) => folder],
    [
      'a FIFO',
      (folder) => {
        execFileSync('mkfifo', [join(folder, 'fifo')]);
        return join(folder, 'fifo');
      },
    ],
    ['a device', () => '/dev/zero'],
    [
      'a file below a file',
      (folder) => {
        writeFileSync(join(folder, 'file'), '');
        return join(folder, 'file', 'kv.db');
      },
    ],
    [
      'a dangling link',
      (folder) => {
        symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
        return join(folder, 'link');
      },
    ],
    [
      'a link to itself',
      (folder) => {
        symlinkSync('loop', join(folder, 'loop'));
        return join(folder, 'loop');
      },
    ],
    ['a name of 300 characters', (folder) => join(folder, 'x'.repeat(300))],
    ['a NUL in the name', (folder) => join(folder, 'a\0b')],
    ['a name that ends in white space', (folder) => join(folder, 'kv.db ')],
    ['a folder that can not be made', () => '/proc/kv/kv.db'],
  ])('%s', (_name, pathIn) => {
    const folder = newFolder();
    const path = pathIn(folder);
    const before = readdirSync(folder);
    expect(codeOfOpening(path)).toBe('STORE_UNAVAILABLE');
    expect(readdirSync(folder)).toEqual(before);
  });

  it('a read-only folder: nothing created, a store there left untouched', async () => {
    const folder = newFolder();
    const path = await makeStore(join(folder, 'data', 'kv.db'));
    const before = digestOf(path);
    chmodSync(folder, 0o755);
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);
    for (const file of [path, join(dirname(path), 'new.db')]) {
      const [code, message] = await runFixture('open-unprivileged', [file]);
      expect(code).toBe('STORE_UNAVAILABLE');
      expect(message).toContain('may write the file and its folder');
    }
    expect(digestOf(path)).toBe(before);
    expect(readdirSync(dirname(path))).toEqual(['kv.db']);
  });
});

describe('createSqliteKvStore on a full disk', () => {
  it('is STORE_UNAVAILABLE for what does not fit alone, and keeps all that it acknowledged', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'data'));
    const path = join(folder, 'data', 'kv.db');
    const lines = await runFixture('fill-disk', [path], { fileKilobytes: 4_096 });
    expect(lines).toEqual([
      'big STORE_UNAVAILABLE',
      'small fits',
      expect.stringMatching(/^full STORE_UNAVAILABLE STORE_UNAVAILABLE: the store failed/),
      'kept true true',
    ]);
    const store = createSqliteKvStore({ path });
    const kv = store.kvStoreFactory('fill_disk', 'shared');
    expect(await kv.get('big')).toBeNull();
    expect(await kv.get('small')).toBe('fits');
    expect((await kv.list('k')).length).toBeGreaterThan(0);
    await kv.set('big', 'x'.repeat(8_000_000));
    expect((await kv.get('big'))?.length).toBe(8_000_000);
    store.close();
  });
});

const built = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const CREATE = `
const { createSqliteKvStore } = await import(process.argv[1]);
createSqliteKvStore({ path: process.argv[2] }).close();
`;

it.runIf(canTrace() && existsSync(built))(
  'a new file is on the disk before it has its name',
  () => {
    const folder = newFolder();
    const trace = join(folder, 'trace');
    const node = [process.execPath, '--input-type=module', '--eval', CREATE];
    const traced = ['-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync,link,linkat', ...node];
    expect(spawnSync('strace', [...traced, built, join(folder, 'kv.db')]).status).toBe(0);
    const calls = readFileSync(trace, 'utf8').split('\n');
    const named = calls.findIndex((call) => /link(at)?\(.*\.new"/.test(call));
    const synced = (from: number, to: number, what: RegExp) =>
      calls.slice(from, to).filter((call) => /f(data)?sync\(/.test(call) && what.test(call)).length;
    expect(named).toBeGreaterThan(0);
    expect(synced(0, named, /\.new>/)).toBe(1);
    expect(synced(named, calls.length, new RegExp(`<${folder}>`))).toBe(1);
  },
);
