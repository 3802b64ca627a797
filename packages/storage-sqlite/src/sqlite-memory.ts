import {
  applyMemoryChange,
  assertKvKey,
  assertOptions,
  countOf,
  DEFAULT_KV_LIMITS,
  DEFAULT_MEMORY_LIMITS,
  isSameMemory,
  memorySizeChars,
  type OptionNames,
} from '@ethosagent/policy';
import {
  EthosError,
  type MemoryChange,
  type MemoryDocument,
  type MemoryProvider,
  type MemorySection,
} from '@ethosagent/types';
import type { SqliteDriver } from './driver/load-driver.js';
import { MEMORY_SCHEMA } from './memory-schema.js';
import { prepareMemoryTable } from './memory-table.js';
import { openStore } from './open-store.js';
import { MAX_TEXT_LENGTH, wholeNumberOption } from './store-options.js';

export interface SqliteMemoryOptions {
  /** The database file, or `:memory:`. It is created (0600) with its missing folders (0700). */
  path: string;
  /** What an acknowledged write survives: `full` (default) a power loss, `normal` a crash. */
  synchronous?: 'full' | 'normal';
  /** The SQLite to use. When absent, better-sqlite3 if it loads, or else that of Node. */
  driver?: SqliteDriver;
  /** Returns milliseconds since the epoch. `Date.now` when absent. */
  clock?: () => number;
  /** Milliseconds that a call waits for locks of other processes. 30,000 when absent. */
  busyTimeoutMs?: number;
  /** The most characters of a section's text. 20,000 when absent. */
  maxSectionChars?: number;
  /** The most characters of a memory, with its headings and texts. 1,000,000 when absent. */
  maxDocumentChars?: number;
  /** The number of replaced versions that are kept of a memory. 20 when absent. */
  maxVersions?: number;
}

/** A `MemoryProvider` in a file. */
export interface SqliteMemory extends MemoryProvider {
  /** Commits the pending writes, and closes the file. Later calls reject. */
  close: () => void;
}

const FACTORY = 'createSqliteMemory';
const KIND = { factory: FACTORY, schema: MEMORY_SCHEMA };
const MAX_VERSIONS = 1_000;
const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

/** The revision of a memory that was never changed. */
const NO_REVISION = 0;

const OPTIONS: OptionNames<SqliteMemoryOptions> = {
  path: true,
  synchronous: true,
  driver: true,
  clock: true,
  busyTimeoutMs: true,
  maxSectionChars: true,
  maxDocumentChars: true,
  maxVersions: true,
};

/**
 * Opens memories in an SQLite file, for any number of processes at once. A search returns first the
 * sections with all words of the query, and then those with some of them.
 *
 * @param options the path of the file, and limits in characters
 * @returns the memories; call `close` at the end
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind; it is not changed
 * @throws `STORE_NEWER` if a newer version wrote the file; it is not changed
 * @throws `STORE_UNAVAILABLE` if the file can't be opened
 * @throws `CONFIG_INVALID` for an invalid option
 * @example
 * const memory = createSqliteMemory({ path: '/var/lib/agent/memory.db' });
 * await memory.change('global', { kind: 'add', section: 'Tastes', text: 'Tea, no sugar.' });
 * console.log((await memory.read('global')).sections);
 * memory.close();
 */
export function createSqliteMemory(options: SqliteMemoryOptions): SqliteMemory {
  assertOptions(FACTORY, options, OPTIONS);
  const charsOption = (name: keyof typeof DEFAULT_MEMORY_LIMITS) =>
    wholeNumberOption(options, name, {
      factory: FACTORY,
      fallback: DEFAULT_MEMORY_LIMITS[name],
      max: MAX_TEXT_LENGTH,
    });
  const limits = {
    maxSectionChars: charsOption('maxSectionChars'),
    maxDocumentChars: charsOption('maxDocumentChars'),
  };
  const maxVersions = wholeNumberOption(options, 'maxVersions', {
    factory: FACTORY,
    fallback: 20,
    max: MAX_VERSIONS,
  });

  return openStore(KIND, options, ({ db, queue, clock, read, close }) => {
    const table = prepareMemoryTable(db);

    const current = db.transaction((scopeId: string) => {
      const memory = table.find(scopeId);
      return memory === undefined
        ? { revision: NO_REVISION, sections: [] }
        : { revision: memory.revision, sections: table.sections(memory.id) };
    });

    const change = db.transaction(
      (scopeId: string, wanted: MemoryChange, expectedRevision: string | undefined) => {
        const { revision, sections } = current(scopeId);
        if (expectedRevision !== undefined && expectedRevision !== String(revision)) {
          throw new EthosError(
            'MEMORY_CHANGED',
            'the memory was changed since it was read; read it again',
          );
        }
        const after = applyMemoryChange(sections, wanted, limits);
        if (isSameMemory(sections, after)) return documentOf(revision, sections);
        const now = Math.floor(clock());
        const next = table.replace(scopeId, { before: sections, after }, { now, maxVersions });
        return documentOf(next, after);
      },
    );

    /** Reads from a memory; returns `nothing` if the memory was never changed. */
    const reading = async <T>(scopeId: string, of: (memory: number) => T, nothing: T): Promise<T> =>
      read(scopeId, () => {
        const memory = table.find(scopeId);
        return memory === undefined ? nothing : of(memory.id);
      });

    return {
      async read(scopeId) {
        assertKvKey(scopeId, DEFAULT_KV_LIMITS);
        return read(scopeId, () => {
          const { revision, sections } = current(scopeId);
          return documentOf(revision, sections);
        });
      },
      async change(scopeId, wanted, opts) {
        assertKvKey(scopeId, DEFAULT_KV_LIMITS);
        return queue.run(scopeId, () => change(scopeId, wanted, opts?.expectedRevision));
      },
      async search(scopeId, query, opts) {
        assertKvKey(scopeId, DEFAULT_KV_LIMITS);
        const limit = countOf('limit', opts?.limit, {
          fallback: DEFAULT_MATCHES,
          max: MAX_MATCHES,
        });
        return reading(scopeId, (memory) => table.search(memory, query, limit), []);
      },
      async versions(scopeId, opts) {
        assertKvKey(scopeId, DEFAULT_KV_LIMITS);
        const limit = countOf('limit', opts?.limit, { fallback: maxVersions, max: MAX_VERSIONS });
        return reading(scopeId, (memory) => table.versions(memory, limit), []);
      },
      close,
    };
  });
}

function documentOf(revision: number, sections: readonly MemorySection[]): MemoryDocument {
  return { sections, revision: String(revision), sizeChars: memorySizeChars(sections) };
}
