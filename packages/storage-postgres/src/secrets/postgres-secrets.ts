import { isSecretRef } from '@ethosagent/policy';
import { EthosError, type OpenedStore, type SecretStore } from '@ethosagent/types';
import type { Database } from '../database/database.js';
import type { SealingKeys } from './sealing-key.js';

const MAX_BYTES = 1_000_000;

/** Opens the secrets of a database. */
export async function openSecrets(
  database: Database,
  keys: SealingKeys,
): Promise<Required<OpenedStore<Required<SecretStore>>>> {
  const close = await database.open();
  return {
    store: createSecrets(database, keys),
    close,
    problem: () => database.problem({ isOnlyRead: true }),
  };
}

function createSecrets(database: Database, keys: SealingKeys): Required<SecretStore> {
  const table = `${database.schema}.secret`;
  const get = {
    name: 'ethos_secret_get',
    isRepeatable: true,
    text: `SELECT sealed FROM ${table} WHERE ref = $1`,
  };
  const set = {
    name: 'ethos_secret_set',
    isRepeatable: true,
    text: `INSERT INTO ${table} (ref, sealed) VALUES ($1, $2)
      ON CONFLICT (ref) DO UPDATE SET sealed = excluded.sealed, changed_at = now()`,
  };
  const remove = {
    name: 'ethos_secret_delete',
    isRepeatable: true,
    text: `DELETE FROM ${table} WHERE ref = $1`,
  };
  const list = {
    name: 'ethos_secret_list',
    isRepeatable: true,
    text: `SELECT ref FROM ${table} ORDER BY ref`,
  };

  return {
    async get(ref) {
      assertRef(ref);
      const [row] = await guarded(() => database.run<{ sealed: Buffer }>(get, [ref]));
      if (row === undefined) throw notFound(ref, 'no value; store one under this ref');
      const value = keys.open(ref, row.sealed);
      if (value !== undefined) return value;
      throw new EthosError(
        'SECRETS_UNAVAILABLE',
        `${ref}: it was stored with another key, or was changed in the database; give that key, or store it again`,
      );
    },
    async set(ref, value) {
      assertRef(ref);
      if (Buffer.byteLength(value) > MAX_BYTES) {
        throw new EthosError('VALUE_INVALID', `${ref}: longer than the cap of ${MAX_BYTES} bytes`);
      }
      await guarded(() => database.run(set, [ref, keys.seal(ref, value)]));
    },
    async delete(ref) {
      assertRef(ref);
      await guarded(() => database.run(remove, [ref]));
    },
    async list() {
      const rows = await guarded(() => database.run<{ ref: string }>(list, []));
      return rows.map(({ ref }) => ref);
    },
  };
}

/** Turns errors into `SECRETS_UNAVAILABLE`: without an answer, nobody knows if a secret exists. */
async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    const message = cause instanceof EthosError ? cause.message : 'the database does not answer';
    throw new EthosError('SECRETS_UNAVAILABLE', message.replace(/^[A-Z_]+: /, ''), { cause });
  }
}

function assertRef(ref: string): void {
  if (isSecretRef(ref)) return;
  throw new EthosError(
    'SECRET_NOT_FOUND',
    'the ref is malformed; use segments of letters, digits and _ . @ : + - separated by /',
  );
}

function notFound(ref: string, detail: string): EthosError {
  return new EthosError('SECRET_NOT_FOUND', `${ref}: ${detail}`);
}
