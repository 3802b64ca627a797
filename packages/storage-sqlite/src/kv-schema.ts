/** "EthK" in ASCII: marks a database file as a key-value store of this project. */
export const KV_APPLICATION_ID = 0x4574684b;

/**
 * Step n takes a file from `user_version` n to n + 1. Only ever appended to. A newer file is refused
 * by its version, so a step may change anything.
 */
export const KV_MIGRATIONS: readonly string[] = [
  // `value` stands last, so that a listing never follows the overflow chain of a large value.
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
