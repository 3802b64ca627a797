import {
  assertKvKey,
  assertKvValue,
  incrementKvValue,
  type KvLimits,
  kvExpiresAt,
} from '@ethosagent/policy';
import type { KeyValueStore } from '@ethosagent/types';
import { type KeyRange, type KvTable, rangeOfKey, rangeOfPrefix } from './kv-table.js';
import type { Engine } from './open-store.js';

/** The parts of a store that all its namespaces share. */
export interface KvEngine extends Pick<Engine, 'queue' | 'clock' | 'read'> {
  table: KvTable;
  limits: KvLimits;
}

/**
 * Creates one namespace of a store. Its data is in closures, so a tool can't reach the rest of the
 * store.
 */
export function createNamespace(
  { table, queue, clock, limits, read }: KvEngine,
  namespace: string,
): Required<KeyValueStore> {
  // Removes a row that was found to be expired. So it stays absent even if the clock is set back.
  function forgetExpired(range: KeyRange, now: number): void {
    queue
      .run(namespace, () => table.removeExpiredIn(namespace, range, now))
      .catch(() => {
        // If the store can't be written, those who write get the error.
      });
  }

  function readValue(key: string): string | null {
    const now = clock();
    const value = table.read(namespace, key, now);
    if (value === null) forgetExpired(rangeOfKey(key), now);
    return value ?? null;
  }

  function listKeys(prefix: string): string[] {
    const now = clock();
    const range = rangeOfPrefix(prefix);
    const keys = table.list(namespace, range, now);
    if (areLive(keys)) return keys;
    forgetExpired(range, now);
    return keys.filter((key) => key !== null);
  }

  const afterOwnWrites = <T>(of: () => T) => read(namespace, of);

  return {
    async get(key) {
      assertKvKey(key, limits);
      return afterOwnWrites(() => readValue(key));
    },
    async set(key, value, opts) {
      assertKvKey(key, limits);
      assertKvValue(value, limits);
      const expiresAt = kvExpiresAt(opts?.ttlSeconds, clock());
      return queue.run(namespace, () => table.write(namespace, key, { value, expiresAt }));
    },
    async delete(key) {
      assertKvKey(key, limits);
      return queue.run(namespace, () => table.remove(namespace, key));
    },
    async list(prefix) {
      assertKvKey(prefix, limits);
      return afterOwnWrites(() => listKeys(prefix));
    },
    async increment(key, by = 1, opts) {
      assertKvKey(key, limits);
      const expiresAt = kvExpiresAt(opts?.ttlSeconds, clock());
      return queue.run(namespace, () => {
        const sum = incrementKvValue(readValue(key), by);
        table.write(namespace, key, { value: String(sum), expiresAt });
        return sum;
      });
    },
    // biome-ignore lint/complexity/useMaxParams: a documented signature
    async compareAndSet(key, expected, value, opts) {
      assertKvKey(key, limits);
      if (expected !== null) assertKvValue(expected, limits);
      assertKvValue(value, limits);
      const expiresAt = kvExpiresAt(opts?.ttlSeconds, clock());
      return queue.run(namespace, () => {
        if (readValue(key) !== expected) return false;
        table.write(namespace, key, { value, expiresAt });
        return true;
      });
    },
  };
}

function areLive(keys: (string | null)[]): keys is string[] {
  return !keys.includes(null);
}
