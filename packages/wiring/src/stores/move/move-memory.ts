import { isSameMemory } from '@ethosagent/policy';
import {
  errorCodeOf,
  type MemoryChange,
  type MemoryProvider,
  type MemorySection,
} from '@ethosagent/types';
import { digestOf, type Move, type MoveItem } from './move-item.js';

/** Moves memories as they are now. Replaced versions stay in the home. */
export function moveMemory(
  scopeIds: () => AsyncIterable<string>,
  { from, to }: { from: MemoryProvider; to: MemoryProvider },
): Move {
  return {
    atOnce: 8,
    async *items() {
      for await (const scopeId of scopeIds()) {
        const { sections } = await from.read(scopeId);
        if (sections.length > 0) yield itemOf(scopeId, sections, to);
      }
    },
  };
}

function itemOf(scopeId: string, sections: readonly MemorySection[], to: MemoryProvider): MoveItem {
  return {
    name: scopeId,
    source: async () => digestOf(plain(sections)),
    async target() {
      const there = await to.read(scopeId);
      return there.sections.length === 0 ? undefined : digestOf(plain(there.sections));
    },
    async copy(replace) {
      const there = await to.read(scopeId);
      if (isSameMemory(sections, there.sections)) return 'there';
      let { revision } = there;
      const change = async (wanted: MemoryChange) => {
        ({ revision } = await to.change(scopeId, wanted, { expectedRevision: revision }));
      };
      // An interrupted move has written the first sections.
      const isBegun = isSameMemory(sections.slice(0, there.sections.length), there.sections);
      if (!isBegun && !replace) return 'other';
      try {
        if (!isBegun) {
          for (const { heading } of there.sections) {
            await change({ kind: 'remove', section: heading });
          }
        }
        for (const { heading, text } of sections.slice(isBegun ? there.sections.length : 0)) {
          await change({ kind: 'add', section: heading, text });
        }
      } catch (error) {
        // Somebody already uses it in the new store.
        if (errorCodeOf(error) === 'MEMORY_CHANGED') return 'other';
        throw error;
      }
      return 'moved';
    },
  };
}

function plain(sections: readonly MemorySection[]): MemorySection[] {
  return sections.map(({ heading, text }) => ({ heading, text }));
}
