import type { SqliteKvEntry } from '@ethosagent/storage-sqlite';
import type { KeyValueStore, KeyValueStoreFactory } from '@ethosagent/types';
import { digestOf, type Move, type MoveItem } from './move-item.js';

/**
 * Moves the entries of tools, and the first versions of MCP tools. Expiring entries keep their
 * time.
 */
export function moveKeyValue(
  entries: () => AsyncIterable<SqliteKvEntry>,
  to: KeyValueStoreFactory,
): Move {
  return {
    atOnce: 64,
    async *items() {
      for await (const entry of entries()) yield itemOf(entry, to('stores-move', entry.scopeId));
    },
  };
}

function itemOf({ scopeId, key, value, expiresAt }: SqliteKvEntry, to: KeyValueStore): MoveItem {
  // At least one millisecond, so that an entry that expires now does so in the new store.
  const ttl = () =>
    expiresAt === undefined ? {} : { ttlSeconds: Math.max(1, expiresAt - Date.now()) / 1000 };
  const isGone = () => expiresAt !== undefined && expiresAt <= Date.now();
  const isThere = async () => {
    const there = await to.get(key);
    return there === null ? undefined : there === value;
  };
  return {
    name: `${scopeId} ${key}`,
    source: async () => (isGone() ? undefined : digestOf(value)),
    async target() {
      const there = await to.get(key);
      return there === null ? undefined : digestOf(there);
    },
    async copy(replace) {
      const same = await isThere();
      if (same === true || isGone()) return 'there';
      if (same === undefined && to.compareAndSet !== undefined) {
        if (await to.compareAndSet(key, null, value, ttl())) return 'moved';
        if ((await isThere()) === true) return 'there';
      } else if (same === undefined) {
        await to.set(key, value, ttl());
        return 'moved';
      }
      if (!replace) return 'other';
      await to.set(key, value, ttl());
      return 'moved';
    },
  };
}
