import { isAbsolute } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { loadLibraries } from '../libraries.js';
import type { PersonalityStore } from '../personality-store.js';
import type { ToolRuntimeOptions } from '../runtime-api.js';
import { assertLockIsKept, reachLockPath, readLockText } from './lock-file.js';
import { parseReachLock } from './lock-text.js';
import type { ReachLock } from './reach-lock.js';

/** A lock that was read once. */
export interface OpenedLock {
  readonly lock: ReachLock;
  readonly file: string;
}

/**
 * Reads the lock that a host asks for.
 *
 * @throws `CONFIG_INVALID` for a lock that can't be read, or that a tool could write
 */
export async function openLock({
  home,
  cwd,
  lock,
  personalities,
}: {
  home: string;
  cwd: string;
  lock: ToolRuntimeOptions['lock'];
  personalities: PersonalityStore;
}): Promise<OpenedLock | undefined> {
  if (lock === undefined || lock === false) return undefined;
  const file = lock === true ? reachLockPath(home) : lock;
  if (typeof file !== 'string' || !isAbsolute(file)) {
    const problem = 'lock must be true, false or an absolute path';
    throw new EthosError('CONFIG_INVALID', problem);
  }
  assertLockIsKept(file, await writableFolders(personalities));
  await loadLibraries();
  return { lock: parseReachLock(readLockText(file), { home, cwd, file }), file };
}

/** The folders to which tools of any personality may write. */
export async function writableFolders(personalities: PersonalityStore): Promise<string[]> {
  const ids = await personalities.list();
  return ids.flatMap((id) => personalities.peek(id)?.fs_reach?.write ?? []);
}
