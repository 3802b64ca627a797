import type { StoreSchema } from './store-schema.js';

const MIGRATIONS: readonly string[] = [
  // `value` is the last column, so that a listing never reads the overflow pages of a large value.
  // Text is compared byte by byte (BINARY): exact, case-sensitive, in code point order.
  `CREATE TABLE kv (
     namespace TEXT NOT NULL,
     key TEXT NOT NULL,
     expires_at INTEGER,
     value TEXT NOT NULL,
     PRIMARY KEY (namespace, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX kv_expires_at ON kv (expires_at) WHERE expires_at IS NOT NULL;`,
];

/** A key-value store. Its application id is "EthK" in ASCII. */
export const KV_SCHEMA: StoreSchema = { applicationId: 0x4574684b, migrations: MIGRATIONS };
