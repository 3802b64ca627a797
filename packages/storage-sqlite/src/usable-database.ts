import { statSync } from 'node:fs';
import { EthosError } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import type { StoreSchema } from './store-schema.js';

/**
 * Larger files are not checked for damage when they are opened. Damage is then found when it is
 * read.
 */
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;

/**
 * Checks that a database is an undamaged store of a known version. Only reads.
 *
 * @throws `STORE_CORRUPT`, `STORE_NEWER`, or an error of SQLite or of the file system
 */
export function assertUsable(db: Connection, { applicationId, migrations }: StoreSchema): void {
  if (!hasContent(db.name)) throw corrupt(db.name, 'is empty; remove it to start afresh');
  if (pragmaNumber(db, 'application_id') !== applicationId) {
    throw corrupt(
      db.name,
      'belongs to another program or is another kind of store; give another path',
    );
  }
  const version = versionOf(db);
  if (version < 1) throw corrupt(db.name, 'has no schema version; restore it from a backup');
  if (version > migrations.length) {
    throw new EthosError(
      'STORE_NEWER',
      `the database ${db.name} has version ${version}, and this code knows ${migrations.length}; update it`,
    );
  }
  const expected = pragmaNumber(db, 'page_count') * pragmaNumber(db, 'page_size');
  const { size } = statSync(db.name);
  // If the last page is cut off, SQLite reads the missing part as zeros. A database with a log may
  // really be shorter: its last pages are still in the log.
  if (size < expected && !hasContent(`${db.name}-wal`)) {
    throw corrupt(db.name, 'is shorter than it says itself; restore it from a backup');
  }
  if (size <= MAX_CHECKED_BYTES && db.pragma('quick_check(1)') !== 'ok') {
    throw corrupt(db.name, 'is damaged; restore it from a backup');
  }
}

export function versionOf(db: Connection): number {
  return pragmaNumber(db, 'user_version');
}

export function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function pragmaNumber(db: Connection, name: string): number {
  return Number(db.pragma(name));
}

function corrupt(path: string, detail: string): EthosError {
  return new EthosError('STORE_CORRUPT', `the database ${path} ${detail}`);
}
