import type {
  AttachmentStore,
  KeyValueStoreFactory,
  MemoryProvider,
  OpenedStore,
  SecretStore,
  SessionStore,
  StoreOpener,
} from '@ethosagent/types';
import { openAttachments } from './attachments/postgres-attachments.js';
import { Database } from './database/database.js';
import { checkedOptions, type PostgresOptions } from './database/options.js';
import { openKeyValue } from './kv/postgres-key-value.js';
import { openMemory } from './memory/postgres-memory.js';
import { openSecrets } from './secrets/postgres-secrets.js';
import { sealingKeys } from './secrets/sealing-key.js';
import { openSessions } from './sessions/postgres-sessions.js';

/** One store of a database. A runtime opens and closes it; whoever uses it alone does so too. */
export interface PostgresStore<T> extends StoreOpener<T> {
  /**
   * Connects, and makes or updates the tables.
   *
   * @throws `STORE_UNAVAILABLE`, `STORE_NEWER` when a newer program made the tables, `CONFIG_INVALID`
   * for a server before PostgreSQL 15 or a database that is not in UTF-8
   */
  open(): Promise<Required<OpenedStore<T>>>;
}

/** The stores of one database, as `stores` of a runtime takes them. They share their connections. */
export interface PostgresStores {
  /** What tools keep, and what MCP tools were when they were first seen. */
  readonly keyValue: PostgresStore<KeyValueStoreFactory>;
  /** Messages, turns, approvals that wait, and what sessions have read and were granted. */
  readonly sessions: PostgresStore<SessionStore>;
  readonly memory: PostgresStore<MemoryProvider>;
  readonly attachments: PostgresStore<AttachmentStore>;
  /** Secrets, and the tokens of MCP servers, encrypted. Present with `secretsKey`. */
  readonly secrets?: PostgresStore<Required<SecretStore>>;
}

/** Where the database is, and what its secrets are encrypted with. */
export interface PostgresStoresOptions extends PostgresOptions {
  /**
   * 32 bytes or more that are kept where the database is not, the same on all machines: the secrets are
   * encrypted with it. Of a list, the first encrypts and all decrypt, so that a key can be replaced.
   * Without it the database keeps no secrets.
   */
  secretsKey?: string | Uint8Array | readonly (string | Uint8Array)[];
}

/**
 * The stores of a runtime in a PostgreSQL database, for any number of processes and machines at once.
 * Nothing is connected until a store is opened.
 *
 * A call resolves when its write is committed. While the server is away, calls are
 * `STORE_UNAVAILABLE`; once it is back, the next call works.
 *
 * @param options a URL, or options with one
 * @returns the stores, for `stores` of `createToolRuntime`
 * @throws `CONFIG_INVALID` for an option that is wrong; the message never shows the URL
 * @example
 * const runtime = await createToolRuntime({
 *   home: '/var/lib/agent',
 *   personality: 'coder',
 *   stores: createPostgresStores('postgresql://agent:secret@db.example.com/agents'),
 * });
 */
export function createPostgresStores(options: string | PostgresStoresOptions): PostgresStores {
  const given: PostgresStoresOptions = typeof options === 'string' ? { url: options } : options;
  const database = new Database(checkedOptions(given));
  const { secretsKey } = given;
  const keys = secretsKey === undefined ? undefined : sealingKeys(secretsKey);
  return {
    keyValue: { open: () => openKeyValue(database) },
    sessions: { open: () => openSessions(database) },
    memory: { open: () => openMemory(database) },
    attachments: { open: () => openAttachments(database) },
    ...(keys !== undefined && { secrets: { open: () => openSecrets(database, keys) } }),
  };
}
