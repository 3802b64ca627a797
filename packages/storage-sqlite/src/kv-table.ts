import type { Connection } from './driver/connection.js';
import { LIMIT } from './limit.js';
import { prefixUpperBound } from './prefix-range.js';

/** The most rows that one sweep removes. */
const SWEEP_BATCH = 500;

/** The statements on the `kv` table. Times are milliseconds since the epoch. */
export type KvTable = ReturnType<typeof prepareKvTable>;

/** A half-open range of keys. */
export interface KeyRange {
  from: string;
  below: string | Buffer;
}

/** An entry with its namespace. */
export interface KvEntryRow {
  scopeId: string;
  key: string;
  value: string;
  expiresAt: number | null;
}

export function rangeOfPrefix(prefix: string): KeyRange {
  return { from: prefix, below: prefixUpperBound(prefix) };
}

export function rangeOfKey(key: string): KeyRange {
  return { from: key, below: `${key}\0` };
}

/** Prepares all statements once for a connection. */
export function prepareKvTable(db: Connection) {
  const inRange = 'namespace = ? AND key >= ? AND key < ?';

  // An expired row is returned as NULL, so that the caller sees it without a second query.
  const read = db.prepareColumn<[now: number, namespace: string, key: string], string | null>(
    `SELECT iif(expires_at <= ?, NULL, ${db.text('value')}) FROM kv
     WHERE namespace = ? AND key = ?`,
  );
  const list = db.prepareColumn<
    [now: number, namespace: string, from: string, below: string | Buffer],
    string | null
  >(`SELECT iif(expires_at <= ?, NULL, ${db.text('key')}) FROM kv WHERE ${inRange} ORDER BY key`);
  const write = db.prepare<[string, string, number | null, string]>(
    `INSERT INTO kv (namespace, key, expires_at, value) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at, value = excluded.value`,
  );
  const remove = db.prepare<[string, string]>('DELETE FROM kv WHERE namespace = ? AND key = ?');
  const anyExpired = db.prepare<[now: number]>('SELECT 1 FROM kv WHERE expires_at <= ? LIMIT 1');
  const removeExpired = db.prepare<
    [namespace: string, from: string, below: string | Buffer, now: number]
  >(`DELETE FROM kv WHERE ${inRange} AND expires_at <= ?`);
  const sweep = db.prepare<[now: number, limit: number]>(
    `DELETE FROM kv WHERE (namespace, key) IN
       (SELECT namespace, key FROM kv WHERE expires_at <= ? ORDER BY expires_at ${LIMIT})`,
  );

  const entriesAfter = db.prepare<[namespace: string, key: string, now: number], KvEntryRow>(
    `SELECT ${db.text('namespace')} AS scopeId, ${db.text('key')} AS key,
       ${db.text('value')} AS value, expires_at AS expiresAt FROM kv
     WHERE (namespace, key) > (?, ?) AND (expires_at IS NULL OR expires_at > ?)
     ORDER BY namespace, key`,
  );

  return {
    /** The entries after a key, in order, without expired ones. */
    entriesAfter(after: Pick<KvEntryRow, 'scopeId' | 'key'>, now: number) {
      return entriesAfter.iterate(after.scopeId, after.key, now);
    },
    /** The value; `null` if it has expired, `undefined` if there is none. */
    read(namespace: string, key: string, now: number): string | null | undefined {
      return read.get(now, namespace, key);
    },
    /** The keys in order. Each expired one is replaced by `null`. */
    list(namespace: string, { from, below }: KeyRange, now: number): (string | null)[] {
      return list.all(now, namespace, from, below);
    },
    write(
      namespace: string,
      key: string,
      { value, expiresAt }: { value: string; expiresAt: number | null },
    ): void {
      write.run(namespace, key, expiresAt, value);
    },
    remove(namespace: string, key: string): void {
      remove.run(namespace, key);
    },
    hasExpired(now: number): boolean {
      return anyExpired.get(now) !== undefined;
    },
    removeExpiredIn(namespace: string, { from, below }: KeyRange, now: number): void {
      removeExpired.run(namespace, from, below, now);
    },
    /** Removes a batch of expired rows, the oldest first. Returns whether there may be more. */
    sweep(now: number): boolean {
      return sweep.run(now, SWEEP_BATCH).changes === SWEEP_BATCH;
    },
  };
}
