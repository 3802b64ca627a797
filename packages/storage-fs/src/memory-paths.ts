import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { assertKvKey, DEFAULT_KV_LIMITS } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/**
 * Ids that can be used as names of files. They are all in lower case, so no two differ only in
 * case.
 */
const PLAIN_ID = /^(?:global|(?:personality|user|team):[a-z0-9][a-z0-9_-]{0,63})$/;

/**
 * Returns the name of the file of a memory. Two ids never get the same name, even if case is
 * ignored. No name leads out of the folder.
 */
export function memoryFileName(scopeId: string): string {
  if (PLAIN_ID.test(scopeId)) return `${scopeId.replace(':', '-')}.md`;
  const hint = scopeId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  // Ids of the first kind contain no full stop, so the two kinds can't get the same name.
  return `id-${hint}.${createHash('sha256').update(scopeId).digest('hex').slice(0, 32)}.md`;
}

/** The place of memories. Exactly one of the two is given. */
export interface MemoryPlace {
  dir?: string;
  fileOf?: (scopeId: string) => string;
}

/**
 * Returns a function that gives the absolute path of a memory's file.
 *
 * @throws `CONFIG_INVALID` if not exactly one of the two is given, or a path is not absolute; the
 * returned function also throws `KEY_INVALID` for an invalid scope id
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
