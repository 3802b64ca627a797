import type { AuditReport } from '@ethosagent/audit';
import { EthosError } from '@ethosagent/types';
import type { RuntimeStores } from './runtime-stores.js';

/** What the stores of a database are opened with. */
export interface StoresAtOptions {
  /** Encrypts the secrets in the database. Without it they stay in the home. */
  secretsKey?: string;
}

/**
 * The stores of a server by its URL: all of them in PostgreSQL (`postgresql://…`), the key-value store
 * in Redis (`redis://…`, `rediss://…`). What is not there stays in the home.
 *
 * @param url of the server
 * @param options `secretsKey`: encrypts secrets in PostgreSQL
 * @returns the stores, for `stores` of `createToolRuntime`
 * @throws `CONFIG_INVALID` for another URL, which is never shown, and where the package is not installed
 * @example
 * const stores = await storesAt('postgresql://agent:secret@db.example.com/agents');
 * const runtime = await createToolRuntime({ home, personality: 'coder', stores });
 */
export async function storesAt(
  url: string,
  { secretsKey }: StoresAtOptions = {},
): Promise<RuntimeStores> {
  const [, scheme] = /^(\w+):/.exec(url) ?? [];
  if (scheme === 'postgresql' || scheme === 'postgres') {
    const { createPostgresStores } = await installed(
      '@ethosagent/storage-postgres',
      () => import('@ethosagent/storage-postgres'),
    );
    return { ...createPostgresStores({ url, ...(secretsKey !== undefined && { secretsKey }) }) };
  }
  if (scheme === 'redis' || scheme === 'rediss') {
    if (secretsKey !== undefined) {
      throw new EthosError('CONFIG_INVALID', 'Redis keeps no secrets; leave their key out');
    }
    const { createRedisStores } = await installed(
      '@ethosagent/storage-redis',
      () => import('@ethosagent/storage-redis'),
    );
    return { ...createRedisStores({ url }) };
  }
  throw new EthosError(
    'CONFIG_INVALID',
    'the URL of stores begins with postgresql:// or redis://; check it',
  );
}

/**
 * Checks the audit events of all writers in a PostgreSQL database, as `PostgresAuditSink` wrote them.
 *
 * @param url of the database
 * @param options `key`: the one that the events were written with
 * @returns what is wrong and what can't be told; `ok` when nothing is wrong
 * @throws `CONFIG_INVALID` for another URL, and for chains with a key when none is given
 * @throws `STORE_UNAVAILABLE` when the server does not answer
 * @throws `STORE_NEWER` when a newer version wrote the tables
 */
export async function verifyAuditAt(
  url: string,
  { key }: { key?: string } = {},
): Promise<AuditReport> {
  if (!/^postgres(ql)?:/.test(url)) {
    const problem = 'audit events are in PostgreSQL; give a URL that begins with postgresql://';
    throw new EthosError('CONFIG_INVALID', problem);
  }
  const { verifyPostgresAudit } = await installed(
    '@ethosagent/storage-postgres',
    () => import('@ethosagent/storage-postgres'),
  );
  return verifyPostgresAudit({ url, ...(key !== undefined && { key }) });
}

async function installed<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (Object(cause).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const problem = `${name} is not installed; run "npm install ${name}" in the project`;
    throw new EthosError('CONFIG_INVALID', problem, { cause });
  }
}
