import {
  applyMemoryChange,
  assertKvKey,
  countOf,
  DEFAULT_KV_LIMITS,
  DEFAULT_MEMORY_LIMITS,
  isSameMemory,
  memorySizeChars,
  searchMemory,
} from '@ethosagent/policy';
import {
  EthosError,
  type MemoryChange,
  type MemoryDocument,
  type MemoryProvider,
  type MemorySection,
  type OpenedStore,
} from '@ethosagent/types';
import { type Database, momentFor } from '../database/database.js';
import { Lanes } from '../database/lanes.js';

const KEPT_VERSIONS = 20;
const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

/** The most attempts of a change if others come first. Each time, another change has succeeded. */
const MAX_TRIES = 200;

interface Current {
  revision: number;
  sections: readonly MemorySection[];
}

/** Opens the memories of a database. */
export async function openMemory(
  database: Database,
): Promise<Required<OpenedStore<MemoryProvider>>> {
  const close = await database.open();
  const lanes = new Lanes();
  return {
    store: createMemory(database, lanes),
    async close() {
      await lanes.settled();
      await close();
    },
    problem: () => database.problem(),
  };
}

function createMemory(database: Database, lanes: Lanes): MemoryProvider {
  const { schema } = database;
  const find = {
    name: 'ethos_memory_find',
    isRepeatable: true,
    text: `SELECT revision::float8 AS revision, sections FROM ${schema}.memory
      WHERE digest = sha256($1::bytea)`,
  };
  const replace = {
    name: 'ethos_memory_replace',
    text: `SELECT ${schema}.replace_memory($1, $2, $3, $4, $5) AS done`,
  };
  const versions = {
    name: 'ethos_memory_versions',
    isRepeatable: true,
    text: `SELECT revision, replaced_at::float8 AS "replacedAt", sections
      FROM ${schema}.memory_version WHERE memory = sha256($1::bytea)
      ORDER BY ${schema}.memory_version.revision DESC LIMIT $2`,
  };

  async function current(scopeId: string): Promise<Current> {
    const [row] = await database.run<{ revision: number; sections: string }>(find, [
      Buffer.from(scopeId),
    ]);
    return row === undefined
      ? { revision: 0, sections: [] }
      : { revision: row.revision, sections: JSON.parse(row.sections) };
  }

  /**
   * Changes a memory without a lock, so that nobody waits for a process that stops in the middle.
   * If two changes meet, the second one tries again.
   */
  async function change(
    scopeId: string,
    wanted: MemoryChange,
    expectedRevision: string | undefined,
  ): Promise<MemoryDocument> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const { revision, sections } = await current(scopeId);
      if (expectedRevision !== undefined && expectedRevision !== String(revision)) {
        throw new EthosError(
          'MEMORY_CHANGED',
          'the memory was changed since it was read; read it again',
        );
      }
      const after = applyMemoryChange(sections, wanted, DEFAULT_MEMORY_LIMITS);
      if (isSameMemory(sections, after)) return documentOf({ revision, sections });
      const values = [Buffer.from(scopeId), revision, JSON.stringify(after), KEPT_VERSIONS];
      const [answer] = await database.run<{ done: boolean }>(replace, [
        ...values,
        momentFor(database) ?? null,
      ]);
      if (answer?.done === true) return documentOf({ revision: revision + 1, sections: after });
    }
    throw new EthosError('STORE_UNAVAILABLE', 'others keep changing this memory; try again later');
  }

  const reading = async (scopeId: string) => {
    assertKvKey(scopeId, DEFAULT_KV_LIMITS);
    await lanes.settled(scopeId);
  };

  return {
    async read(scopeId) {
      await reading(scopeId);
      return documentOf(await current(scopeId));
    },
    async change(scopeId, wanted, opts) {
      assertKvKey(scopeId, DEFAULT_KV_LIMITS);
      return lanes.write(scopeId, () => change(scopeId, wanted, opts?.expectedRevision));
    },
    async search(scopeId, query, opts) {
      const limit = countOf('limit', opts?.limit, { fallback: DEFAULT_MATCHES, max: MAX_MATCHES });
      await reading(scopeId);
      return searchMemory((await current(scopeId)).sections, query, limit);
    },
    async versions(scopeId, opts) {
      const limit = countOf('limit', opts?.limit, { fallback: KEPT_VERSIONS, max: KEPT_VERSIONS });
      await reading(scopeId);
      const rows = await database.run<{ revision: string; replacedAt: number; sections: string }>(
        versions,
        [Buffer.from(scopeId), limit],
      );
      return rows.map((row) => ({ ...row, sections: JSON.parse(row.sections) }));
    },
  };
}

function documentOf({ revision, sections }: Current): MemoryDocument {
  return { sections, revision: String(revision), sizeChars: memorySizeChars(sections) };
}
