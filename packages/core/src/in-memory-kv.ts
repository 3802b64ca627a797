import {
  assertKvKey,
  assertKvValue,
  compareCodePoints,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from '@ethosagent/policy';
import type { KeyValueStore } from '@ethosagent/types';

interface Entry {
  value: string;
  /** Milliseconds since the epoch; `null` for an entry that does not expire. */
  expiresAt: number | null;
}

/**
 * A key-value store that lasts as long as the process. For tests and for scopes that need not
 * survive a restart; the same rules and error codes as the SQLite store, with its default caps.
 *
 * @param options `clock`: milliseconds since the epoch; `Date.now` when absent
 * @returns a factory that gives a tool its store; its methods throw the codes of `KeyValueStore`
 */
export function createInMemoryKvStore({
  clock = () => Date.now(),
}: {
  clock?: () => number;
} = {}): {
  /** @throws `KEY_INVALID` for a scope id that is not a well-formed string within the cap */
  kvStoreFactory: (tool: string, scopeId: string) => Required<KeyValueStore>;
} {
  const namespaces = new Map<string, Required<KeyValueStore>>();
  return {
    kvStoreFactory(_tool, scopeId) {
      const known = namespaces.get(scopeId);
      if (known !== undefined) return known;
      assertKvKey(scopeId, DEFAULT_KV_LIMITS);
      const namespace = createNamespace(new Map(), clock);
      namespaces.set(scopeId, namespace);
      return namespace;
    },
  };
}

function createNamespace(
  entries: Map<string, Entry>,
  clock: () => number,
): Required<KeyValueStore> {
  const limits = DEFAULT_KV_LIMITS;

  function read(key: string): string | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    if (entry.expiresAt === null || entry.expiresAt > clock()) return entry.value;
    entries.delete(key);
    return null;
  }

  return {
    async get(key) {
      assertKvKey(key, limits);
      return read(key);
    },
    async set(key, value, opts) {
      assertKvKey(key, limits);
      assertKvValue(value, limits);
      entries.set(key, { value, expiresAt: kvExpiresAt(opts?.ttlSeconds, clock()) });
    },
    async delete(key) {
      assertKvKey(key, limits);
      entries.delete(key);
    },
    async list(prefix) {
      assertKvKey(prefix, limits);
      return [...entries.keys()]
        .filter((key) => key.startsWith(prefix) && read(key) !== null)
        .sort(compareCodePoints);
    },
    async increment(key, by = 1, opts) {
      assertKvKey(key, limits);
      const expiresAt = kvExpiresAt(opts?.ttlSeconds, clock());
      const sum = incrementKvValue(read(key), by);
      entries.set(key, { value: String(sum), expiresAt });
      return sum;
    },
    // biome-ignore lint/complexity/useMaxParams: a documented signature
    async compareAndSet(key, expected, value, opts) {
      assertKvKey(key, limits);
      if (expected !== null) assertKvValue(expected, limits);
      assertKvValue(value, limits);
      const expiresAt = kvExpiresAt(opts?.ttlSeconds, clock());
      if (read(key) !== expected) return false;
      entries.set(key, { value, expiresAt });
      return true;
    },
  };
}
