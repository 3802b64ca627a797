import { EthosError } from '@ethosagent/types';
import pg from 'pg';
import { MIGRATIONS } from './migrations.js';

/**
 * Migrates the tables of a schema in one transaction. If several processes start at the same time,
 * one does it, and the others wait.
 *
 * @param client a connection, which is released at the end
 * @throws `STORE_NEWER` if a newer version wrote the tables; nothing is changed then
 */
export async function migrate(
  client: pg.PoolClient,
  { schema, options }: { schema: string; options: { schema: string } },
): Promise<void> {
  let isBroken = true;
  try {
    if ((await versionOf(client, options.schema)) === MIGRATIONS.length) {
      isBroken = false;
      return;
    }
    await client.query('BEGIN');
    // "Etho" in ASCII. Other programs that lock a schema by its name use another number.
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
      0x4574686f,
      options.schema,
    ]);
    const version = await versionOf(client, options.schema);
    for (const stepOf of MIGRATIONS.slice(version)) {
      const step = stepOf(schema);
      if (typeof step === 'string') await client.query(step);
      else await step(client);
    }
    if (version < MIGRATIONS.length) {
      await client.query(`INSERT INTO ${schema}.migration (version) VALUES ($1)`, [
        MIGRATIONS.length,
      ]);
    }
    await client.query('COMMIT');
    isBroken = false;
  } finally {
    // The server undoes an unfinished transaction when the connection is closed.
    client.release(isBroken);
  }
}

/**
 * Returns how many steps were done.
 * @throws `STORE_NEWER` if that is more than this version has
 */
async function versionOf(client: pg.PoolClient, name: string): Promise<number> {
  // Reads the catalogue itself: a result of `to_regclass` is not updated while a lock is waited
  // for.
  const { rows: found } = await client.query(
    `SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'migration'`,
    [name],
  );
  if (found.length === 0) return 0;
  const { rows } = await client.query<{ version: number }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${pg.escapeIdentifier(name)}.migration`,
  );
  const version = rows[0]?.version ?? 0;
  if (version <= MIGRATIONS.length) return version;
  throw new EthosError(
    'STORE_NEWER',
    `version ${version} of the tables was made by a newer program, this one knows ${MIGRATIONS.length}; update it`,
  );
}
