import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { assertKvKey, DEFAULT_KV_LIMITS } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** Ids that name their file themselves. None of two is the other in another case. */
const PLAIN_ID = /^(?:global|(?:personality|user|team):[a-z0-9][a-z0-9_-]{0,63})$/;

/**
 * The name of the file of a memory. No two ids have the same one, also where case doesn't count,
 * and none leaves its folder.
 */
export function memoryFileName(scopeId: string): string {
  if (PLAIN_ID.test(scopeId)) return `${scopeId.replace(':', '-')}.md`;
  const hint = scopeId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  // A full stop, which no plain id has, keeps the two kinds apart.
  return `id-${hint}.${createHash('sha256').update(scopeId).digest('hex').slice(0, 32)}.md`;
}

/** Where memories are kept: one of the two. */
export interface MemoryPlace {
  dir?: string;
  fileOf?: (scopeId: string) => string;
}

/**
 * The absolute path of the file of each memory.
 *
 * @throws `CONFIG_INVALID`; from the function also `KEY_INVALID`
 */
export function memoryPaths({ dir, fileOf }: MemoryPlace): (scopeId: string) => string {
  if ((dir === undefined) === (fileOf === undefined)) throw invalid('give `dir` or `fileOf`');
  if (dir !== undefined && !isAbsolute(dir)) throw invalid('`dir` must be an absolute path');
  return (scopeId) => {
    assertKvKey(scopeId, DEFAULT_KV_LIMITS);
    const path = fileOf?.(scopeId) ?? join(dir ?? '', memoryFileName(scopeId));
    if (!isAbsolute(path)) throw invalid('`fileOf` must return an absolute path');
    return path;
  };
}

function invalid(detail: string): EthosError {
  return new EthosError('CONFIG_INVALID', `createMarkdownMemory: ${detail}`);
}
