export type { PostgresOptions } from './database/options.js';
export type { PostgresStore, PostgresStores } from './postgres-stores.js';
export { createPostgresStores } from './postgres-stores.js';
