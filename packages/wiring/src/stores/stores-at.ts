import type { AuditReport } from '@ethosagent/audit';
import { EthosError } from '@ethosagent/types';
import { importOptional, type OptionalPackages } from '../optional-packages.js';
import type { RuntimeStores } from './runtime-stores.js';

type ServerPackage = '@ethosagent/storage-postgres' | '@ethosagent/storage-redis';

/** Options for the stores of a server. */
export interface StoresAtOptions {
  /** The key that encrypts the secrets in the database. Without it, secrets stay in the home. */
  secretsKey?: string;
}

/**
 * Returns the stores of a server by its URL. PostgreSQL (`postgresql://…`) has all stores, and
 * Redis (`redis://…`, `rediss://…`) has the key-value store. The other stores stay in the home.
 *
 * @param url the URL of the server
 * @param options `secretsKey`: encrypts secrets in PostgreSQL; Redis takes none
 * @returns the stores, for `stores` of `createToolRuntime`
 * @throws `CONFIG_INVALID` for another URL, for a `secretsKey` with Redis, and if the package is
 * not installed; no message shows the URL
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
    const { createPostgresStores } = await installed('@ethosagent/storage-postgres');
    return { ...createPostgresStores({ url, ...(secretsKey !== undefined && { secretsKey }) }) };
  }
  if (scheme === 'redis' || scheme === 'rediss') {
    if (secretsKey !== undefined) {
      throw new EthosError('CONFIG_INVALID', 'Redis keeps no secrets; leave their key out');
    }
    const { createRedisStores } = await installed('@ethosagent/storage-redis');
    return { ...createRedisStores({ url }) };
  }
  throw new EthosError(
    'CONFIG_INVALID',
    'the URL of stores begins with postgresql:// or redis://; check it',
  );
}

/**
 * Checks the audit events in a PostgreSQL database, of all processes that wrote them with
 * `PostgresAuditSink`.
 *
 * @param url the URL of the database
 * @param options `key`: the key with which the events were written
 * @returns the problems, and what the check can't tell; `ok` if there is no problem
 * @throws `CONFIG_INVALID` for another URL, if the package is not installed, and if the events need
 * a key and none is given
 * @throws `STORE_UNAVAILABLE` if the server does not answer
 * @throws `STORE_NEWER` if a newer version wrote the tables
 */
export async function verifyAuditAt(
  url: string,
  { key }: { key?: string } = {},
): Promise<AuditReport> {
  if (!/^postgres(ql)?:/.test(url)) {
    const problem = 'audit events are in PostgreSQL; give a URL that begins with postgresql://';
    throw new EthosError('CONFIG_INVALID', problem);
  }
  const { verifyPostgresAudit } = await installed('@ethosagent/storage-postgres');
  return verifyPostgresAudit({ url, ...(key !== undefined && { key }) });
}

async function installed<Name extends ServerPackage>(name: Name): Promise<OptionalPackages[Name]> {
  try {
    return await importOptional(name);
  } catch (cause) {
    if (Object(cause).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const problem = `${name} is not installed; run "npm install ${name}" in the project (in a bundle, import it and call what it exports)`;
    throw new EthosError('CONFIG_INVALID', problem, { cause });
  }
}
