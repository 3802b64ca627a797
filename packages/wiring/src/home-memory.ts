import { dirname, join } from 'node:path';
import { createMarkdownMemory } from '@ethosagent/storage-fs';
import type { MemoryProvider } from '@ethosagent/types';
import { isPersonalityId, personalityConfigPath } from './personality-file.js';

const PERSONALITY = 'personality:';

/**
 * Creates the memory provider of a home, with Markdown files. The memory of a personality is
 * `memory.md` beside its `config.yaml`. All others are in `<home>/memory`.
 */
export function createHomeMemory(home: string): MemoryProvider {
  const shared = createMarkdownMemory({ dir: join(home, 'memory') });
  const own = createMarkdownMemory({
    fileOf: (scopeId) =>
      join(dirname(personalityConfigPath(home, scopeId.slice(PERSONALITY.length))), 'memory.md'),
  });
  const of = (scopeId: string) =>
    scopeId.startsWith(PERSONALITY) && isPersonalityId(scopeId.slice(PERSONALITY.length))
      ? own
      : shared;
  return {
    read: (scopeId) => of(scopeId).read(scopeId),
    change: (scopeId, change, opts) => of(scopeId).change(scopeId, change, opts),
    search: (scopeId, query, opts) => of(scopeId).search(scopeId, query, opts),
    versions: (scopeId, opts) => of(scopeId).versions(scopeId, opts),
  };
}
