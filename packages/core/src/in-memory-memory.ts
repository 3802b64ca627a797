import { createHash } from 'node:crypto';
import {
  applyMemoryChange,
  assertKvKey,
  DEFAULT_KV_LIMITS,
  DEFAULT_MEMORY_LIMITS,
  findPhrases,
  type MemoryLimits,
  memorySizeChars,
  parseSearchQuery,
  searchSnippet,
} from '@ethosagent/policy';
import {
  EthosError,
  type MemoryDocument,
  type MemoryMatch,
  type MemoryProvider,
  type MemorySection,
  type MemoryVersion,
} from '@ethosagent/types';

const MAX_VERSIONS = 20;
const DEFAULT_MATCHES = 20;

/** A memory, and what it was; the newest version first. */
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
 * characters, 20,000 a section and 100,000 a memory when absent
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
      return searchSections(sections, query, assertCount(limit));
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

/** Sections with all the phrases of a query, or where there is none, with any of them. */
function searchSections(
  sections: readonly MemorySection[],
  query: string,
  limit: number,
): MemoryMatch[] {
  const phrases = parseSearchQuery(query);
  const found = sections
    .map(({ heading, text }) => {
      const places = [...findPhrases(`${heading}\n${text}`, phrases)];
      const different = new Set(places.map(({ phrase }) => phrase)).size;
      return { heading, text, different, places: places.length };
    })
    .filter(({ different }) => different > 0);
  const all = found.filter(({ different }) => different === phrases.length);
  return (all.length > 0 ? all : found)
    .sort((a, b) => b.different - a.different || b.places - a.places)
    .slice(0, limit)
    .map(({ heading, text }) => ({ heading, snippet: searchSnippet(text, phrases) }));
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
