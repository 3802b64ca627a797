import type { OptionNames } from '@ethosagent/policy';
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
import { checkedOptions, POSTGRES_OPTIONS, type PostgresOptions } from './database/options.js';
import { openKeyValue } from './kv/postgres-key-value.js';
import { openMemory } from './memory/postgres-memory.js';
import { openSecrets } from './secrets/postgres-secrets.js';
import { sealingKeys } from './secrets/sealing-key.js';
import { openSessions } from './sessions/postgres-sessions.js';

/** One store of a database. A runtime opens and closes it. Without a runtime, do so yourself. */
export interface PostgresStore<T> extends StoreOpener<T> {
  /**
   * Connects to the database, and creates or updates the tables.
   *
   * @throws `STORE_UNAVAILABLE` if the server does not answer, `STORE_NEWER` if a newer version
   * wrote the tables, `CONFIG_INVALID` for a server before PostgreSQL 15 or a database that is not
   * in UTF-8
   */
  open(): Promise<Required<OpenedStore<T>>>;
}

/** The stores of one database, for `stores` of a runtime. They share their connections. */
export interface PostgresStores {
  /** The entries of tools, and the first seen definitions of MCP tools. */
  readonly keyValue: PostgresStore<KeyValueStoreFactory>;
  /** Messages, turns, waiting approvals, and what each session has read and was granted. */
  readonly sessions: PostgresStore<SessionStore>;
  readonly memory: PostgresStore<MemoryProvider>;
  readonly attachments: PostgresStore<AttachmentStore>;
  /** Secrets, and the tokens of MCP servers, encrypted. Present if `secretsKey` is given. */
  readonly secrets?: PostgresStore<Required<SecretStore>>;
}

/** The address of the database, and the key of its secrets. */
export interface PostgresStoresOptions extends PostgresOptions {
  /**
   * The key that encrypts the secrets: 32 bytes or more, the same on all machines. Keep it where
   * the database is not. If you give a list, the first key encrypts and all of them decrypt, so
   * that you can replace a key. Without a key the database keeps no secrets.
   */
  secretsKey?: string | Uint8Array | readonly (string | Uint8Array)[];
}

const OPTIONS: OptionNames<PostgresStoresOptions> = { ...POSTGRES_OPTIONS, secretsKey: true };

/**
 * Creates the stores of a runtime in a PostgreSQL database, for any number of processes and
 * machines at once. A connection is made when the first store is opened.
 *
 * A call resolves when its write is committed. While the server does not answer, calls throw
 * `STORE_UNAVAILABLE`. When it answers again, the next call works.
 *
 * @param options a URL, or options with a URL
 * @returns the stores, for `stores` of `createToolRuntime`
 * @throws `CONFIG_INVALID` for an invalid option; the message never contains the URL
 * @example
 * const runtime = await createToolRuntime({
 *   home: '/var/lib/agent',
 *   personality: 'coder',
 *   stores: createPostgresStores('postgresql://agent:secret@db.example.com/agents'),
 * });
 */
export function createPostgresStores(options: string | PostgresStoresOptions): PostgresStores {
  const given: PostgresStoresOptions = typeof options === 'string' ? { url: options } : options;
  const database = new Database(checkedOptions(given, 'createPostgresStores', OPTIONS));
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
