import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { EthosError } from '@ethosagent/types';
import type { Connection, Driver } from './driver/connection.js';
import { loadDriver, type SqliteDriver } from './driver/load-driver.js';
import { toStoreError } from './store-errors.js';
import type { StoreSchema } from './store-schema.js';
import { assertUsable, hasContent, versionOf } from './usable-database.js';
import { SQLITE_BUSY_TIMEOUT_MS } from './write-queue.js';

/** Milliseconds that opening may block for the lock of another process. */
const OPEN_BUSY_TIMEOUT_MS = 5_000;

export interface OpenOptions {
  path: string;
  synchronous: 'full' | 'normal';
  /** The driver; the first one that loads when absent. */
  driver?: SqliteDriver | undefined;
  schema: StoreSchema;
}

/**
 * Opens a store in WAL mode. Creates it if there is none, and migrates an older one. A file that is
 * not a store is not changed.
 *
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind, `STORE_NEWER` if a
 * newer version wrote it, `STORE_UNAVAILABLE` if it can't be opened
 */
export function openDatabase({ path, synchronous, driver, schema }: OpenOptions): Connection {
  try {
    const { open } = loadDriver(driver);
    if (path === ':memory:') {
      const db = open(path);
      migrate(db, schema);
      return db;
    }
    const file = resolveFile(path, (draft) => createFile(draft, { open, schema }));
    const timeout = OPEN_BUSY_TIMEOUT_MS;
    // The last connection that closes a database writes its log into it, unless it was opened for
    // reading. So a database with a log is checked through a read-only connection first. (To read
    // it through `node:fs` would release the locks of other connections in this process; see "How
    // To Corrupt An SQLite Database File", 2.2.)
    if (hasContent(`${file}-wal`) || hasContent(`${file}-journal`)) {
      orClose(open(file, { readonly: true, timeout }), (db) => assertUsable(db, schema)).close();
    }
    return orClose(open(file, { fileMustExist: true, timeout }), (db) => {
      assertUsable(db, schema);
      migrate(db, schema);
      if (db.pragma('journal_mode') !== 'wal') db.pragma('journal_mode = WAL');
      db.pragma(`synchronous = ${synchronous === 'full' ? 'FULL' : 'NORMAL'}`);
      db.pragma(`busy_timeout = ${SQLITE_BUSY_TIMEOUT_MS}`);
    });
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** Returns the real path of a regular file, which is created if it does not exist. */
function resolveFile(path: string, create: (file: string) => void): string {
  const wanted = resolve(path);
  if (wanted !== wanted.trim()) {
    throw unavailable(path, 'its path ends in white space, which the driver drops');
  }
  if (statSync(wanted, { throwIfNoEntry: false }) === undefined) create(wanted);
  const file = realpathSync(wanted);
  if (!statSync(file).isFile())
    throw unavailable(path, 'its path names something else than a file');
  return file;
}

/** Prepares a connection, and closes it if that fails. */
function orClose(db: Connection, prepare: (db: Connection) => void): Connection {
  try {
    prepare(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Builds the file under another name, and links it to its place when it is complete. So a process
 * that is killed leaves no incomplete store. If several processes start at the same time, the first
 * one wins, and removes the drafts of all.
 */
function createFile(file: string, { open, schema }: { open: Driver; schema: StoreSchema }): void {
  const folder = dirname(file);
  makeFolder(folder);
  const draft = `${file}.${randomUUID()}.new`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const db = open(draft);
    try {
      // Nobody opens the draft before it is complete. So it goes to the disk once, after it is closed.
      db.pragma('journal_mode = MEMORY');
      db.pragma('synchronous = OFF');
      migrate(db, schema);
      db.pragma('journal_mode = WAL');
    } finally {
      db.close();
    }
    sync(draft, 'r+');
    unlessTaken(() => linkSync(draft, file));
    // The new name survives a power failure, too. Windows has no such call, and needs none.
    if (process.platform !== 'win32') sync(folder, 'r');
  } catch (error) {
    // Another process was first, and may have removed this draft.
    if (!existsSync(file)) throw error;
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
  removeDraftsOf(file);
}

/** The end of a draft's name, after the name of its file. */
const DRAFT = /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new(-journal|-wal|-shm)?$/;

/** Removes the drafts of a file that is in its place, such as those of killed processes. */
function removeDraftsOf(file: string): void {
  const name = basename(file);
  for (const other of readdirSync(dirname(file))) {
    if (!other.startsWith(name) || !DRAFT.test(other.slice(name.length))) continue;
    try {
      rmSync(join(dirname(file), other), { force: true });
    } catch {
      // On Windows, a process that makes one still has it open. It removes it.
    }
  }
}

// Does not use Node's recursive `mkdir`: it never returns for a folder such as `/proc`, which
// reports ENOENT for every new child.
function makeFolder(folder: string): void {
  const make = () => unlessTaken(() => mkdirSync(folder, { mode: 0o700 }));
  try {
    make();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder));
    make();
  }
}

function unlessTaken(create: () => void): void {
  try {
    create();
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function errnoOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function migrate(db: Connection, { applicationId, migrations }: StoreSchema): void {
  if (versionOf(db) === migrations.length) return;
  const run = db.transaction(() => {
    // Another process may have migrated it while this one waited for the lock.
    for (const step of migrations.slice(versionOf(db))) {
      if (typeof step === 'string') db.exec(step);
      else step(db);
    }
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${migrations.length}`);
  });
  run.immediate();
}

/** Waits until a file, or the names in a folder, are on the disk. */
function sync(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function unavailable(path: string, detail: string): EthosError {
  return new EthosError('STORE_UNAVAILABLE', `the store ${path} was not opened: ${detail}`);
}
