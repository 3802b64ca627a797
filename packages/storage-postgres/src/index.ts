export { type PostgresAuditOptions, PostgresAuditSink } from './audit/postgres-audit-sink.js';
export {
  type VerifyPostgresAuditOptions,
  verifyPostgresAudit,
} from './audit/verify-postgres-audit.js';
export type { PostgresOptions } from './database/options.js';
export type { PostgresStore, PostgresStores, PostgresStoresOptions } from './postgres-stores.js';
export { createPostgresStores } from './postgres-stores.js';
export { createPostgresTurns } from './turns/postgres-turns.js';
