import { createHash } from 'node:crypto';
import {
  applyMemoryChange,
  assertKvKey,
  DEFAULT_KV_LIMITS,
  DEFAULT_MEMORY_LIMITS,
  type MemoryLimits,
  memorySizeChars,
  searchMemory,
} from '@ethosagent/policy';
import {
  EthosError,
  type MemoryDocument,
  type MemoryProvider,
  type MemorySection,
  type MemoryVersion,
} from '@ethosagent/types';

const MAX_VERSIONS = 20;
const DEFAULT_MATCHES = 20;

/** A memory and its earlier versions, the newest first. */
interface Memory {
  sections: readonly MemorySection[];
  versions: readonly MemoryVersion[];
}

const NOTHING: Memory = { sections: [], versions: [] };

/**
 * Memories that last as long as the process: for tests, with the rules, caps and error codes of the
 * providers that keep them.
 *
 * @param options `clock`: milliseconds since the epoch, `Date.now` when absent; the caps in
 * characters, 20,000 a section and 1,000,000 a memory when absent
 * @returns the provider
 */
export function createInMemoryMemory({
  clock = () => Date.now(),
  ...limits
}: Partial<MemoryLimits> & { clock?: () => number } = {}): MemoryProvider {
  const caps = { ...DEFAULT_MEMORY_LIMITS, ...limits };
  const memories = new Map<string, Memory>();
  const memoryOf = (scopeId: string): Memory => {
    assertKvKey(scopeId, DEFAULT_KV_LIMITS);
    return memories.get(scopeId) ?? NOTHING;
  };

  return {
    async read(scopeId) {
      return documentOf(memoryOf(scopeId).sections);
    },
    async change(scopeId, change, { expectedRevision } = {}) {
      const { sections, versions } = memoryOf(scopeId);
      const before = documentOf(sections);
      if (expectedRevision !== undefined && expectedRevision !== before.revision) {
        throw new EthosError(
          'MEMORY_CHANGED',
          'the memory was changed since it was read; read it again',
        );
      }
      const after = documentOf(applyMemoryChange(sections, change, caps));
      if (after.revision === before.revision) return before;
      const replaced = { ...before, replacedAt: Math.floor(clock()) };
      memories.set(scopeId, {
        sections: after.sections,
        versions: [replaced, ...versions].slice(0, MAX_VERSIONS),
      });
      return structuredClone(after);
    },
    async search(scopeId, query, { limit = DEFAULT_MATCHES } = {}) {
      const { sections } = memoryOf(scopeId);
      return searchMemory(sections, query, assertCount(limit));
    },
    async versions(scopeId, { limit = MAX_VERSIONS } = {}) {
      const versions = memoryOf(scopeId).versions.slice(0, assertCount(limit));
      return versions.map(({ revision, replacedAt, sections }) => ({
        revision,
        replacedAt,
        sections: structuredClone(sections),
      }));
    },
  };
}

function documentOf(sections: readonly MemorySection[]): MemoryDocument {
  const copy = sections.map(({ heading, text }) => ({ heading, text }));
  return {
    sections: copy,
    revision: createHash('sha256').update(JSON.stringify(copy)).digest('hex').slice(0, 16),
    sizeChars: memorySizeChars(copy),
  };
}

function assertCount(limit: number): number {
  if (Number.isInteger(limit) && limit >= 0) return limit;
  throw new EthosError('VALUE_INVALID', 'limit is a whole number from 0');
}
