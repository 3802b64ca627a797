import {
  assertKvKey,
  assertKvValue,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from '@ethosagent/policy';
import type { KeyValueStore, KeyValueStoreFactory, OpenedStore } from '@ethosagent/types';
import { type Database, momentFor, type Statement } from '../database/database.js';
import { closedError } from '../database/store-errors.js';
import { KeyValueQueue } from './key-value-batch.js';
import { startSweeper } from './sweeper.js';

const LIMITS = DEFAULT_KV_LIMITS;

/** The number of bytes of a key in the index of prefixes. */
const INDEXED_BYTES = 128;

/** Opens the key-value store of a database. */
export async function openKeyValue(
  database: Database,
): Promise<Required<OpenedStore<KeyValueStoreFactory>>> {
  const close = await database.open();
  const queue = new KeyValueQueue(database);
  const sweeper = startSweeper(database);
  return {
    store: (_tool, scopeId) => {
      if (queue.closed) throw closedError();
      assertKvKey(scopeId, LIMITS);
      return createNamespace(database, queue, scopeId);
    },
    async close() {
      await Promise.all([queue.close(), sweeper.stop()]);
      await close();
    },
    problem: () => database.problem(),
  };
}

/**
 * Creates one namespace of a store. Its data is in closures, so a tool can't reach the rest of the
 * store.
 */
function createNamespace(
  database: Database,
  queue: KeyValueQueue,
  scope: string,
): Required<KeyValueStore> {
  const list = listStatement(database.schema);
  const now = () => momentFor(database);
  // The TTL is only checked here. The server adds its own time.
  const lifetime = (ttlSeconds: unknown) => kvExpiresAt(ttlSeconds, 0);
  return {
    async get(key) {
      assertKvKey(key, LIMITS);
      const { result } = await queue.call({ kind: 'get', scope, key, now: now() });
      return result === null ? null : result.toString();
    },
    async set(key, value, opts) {
      assertKvKey(key, LIMITS);
      assertKvValue(value, LIMITS);
      const lifetimeMs = lifetime(opts?.ttlSeconds);
      await queue.call({ kind: 'set', scope, key, value, lifetimeMs, now: now() });
    },
    async delete(key) {
      assertKvKey(key, LIMITS);
      await queue.call({ kind: 'delete', scope, key });
    },
    async list(prefix) {
      assertKvKey(prefix, LIMITS);
      const bytes = Buffer.from(prefix);
      const head = bytes.subarray(0, INDEXED_BYTES);
      const values = [Buffer.from(scope), bytes, head, bytesAbove(head), now() ?? null];
      return queue.alone(async () => {
        const rows = await database.run<{ key: Buffer }>(list, values);
        return rows.map(({ key }) => key.toString());
      });
    },
    async increment(key, by = 1, opts) {
      assertKvKey(key, LIMITS);
      const lifetimeMs = lifetime(opts?.ttlSeconds);
      incrementKvValue(null, by);
      const { done, result } = await queue.call({
        ...{ kind: 'increment', scope, key, by, lifetimeMs, now: now() },
      });
      const value = result === null ? null : result.toString();
      // For a value that the server refuses, this throws the error with the reason.
      return done ? Number(value) : incrementKvValue(value, by);
    },
    // biome-ignore lint/complexity/useMaxParams: a documented signature
    async compareAndSet(key, expected, value, opts) {
      assertKvKey(key, LIMITS);
      if (expected !== null) assertKvValue(expected, LIMITS);
      assertKvValue(value, LIMITS);
      const lifetimeMs = lifetime(opts?.ttlSeconds);
      const { done } = await queue.call({
        ...{ kind: 'compareAndSet', scope, key, expected, value, lifetimeMs, now: now() },
      });
      return done;
    },
  };
}

function listStatement(schema: string): Statement {
  const head = `substring(key FROM 1 FOR ${INDEXED_BYTES})`;
  const within = `scope_digest = sha256($1::bytea) AND ${head} >= $3::bytea AND ($4::bytea IS NULL OR ${head} < $4::bytea)
    AND substring(key FROM 1 FOR length($2::bytea)) = $2::bytea`;
  return {
    name: 'ethos_key_value_list',
    isRepeatable: true,
    text: `WITH asked AS MATERIALIZED (SELECT ${schema}.moment($5) AS at_moment),
      gone AS (DELETE FROM ${schema}.key_value
        WHERE ${within} AND expires_at <= (SELECT at_moment FROM asked))
      SELECT key FROM ${schema}.key_value
      WHERE ${within} AND (expires_at IS NULL OR expires_at > (SELECT at_moment FROM asked))
      ORDER BY key`,
  };
}

/**
 * Returns the smallest bytes above all that begin with `prefix`; `null` for an empty prefix. UTF-8
 * never contains 0xff.
 */
function bytesAbove(prefix: Buffer): Buffer | null {
  if (prefix.length === 0) return null;
  const above = Buffer.from(prefix);
  above[above.length - 1] = (above.at(-1) ?? 0) + 1;
  return above;
}
