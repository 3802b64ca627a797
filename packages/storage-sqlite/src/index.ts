export type { SqliteDriver } from './driver/load-driver.js';
export type { SqliteKvEntry, SqliteKvStore, SqliteKvStoreOptions } from './sqlite-kv-store.js';
export { createSqliteKvStore } from './sqlite-kv-store.js';
export type { SqliteMemory, SqliteMemoryOptions } from './sqlite-memory.js';
export { createSqliteMemory } from './sqlite-memory.js';
export type { SqliteSessionStore, SqliteSessionStoreOptions } from './sqlite-session-store.js';
export { createSqliteSessionStore } from './sqlite-session-store.js';
export type { SqliteTurns, SqliteTurnsOptions } from './sqlite-turns.js';
export { createSqliteTurns } from './sqlite-turns.js';
