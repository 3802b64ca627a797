export type { SqliteKvStore, SqliteKvStoreOptions } from './sqlite-kv-store.js';
export { createSqliteKvStore } from './sqlite-kv-store.js';
