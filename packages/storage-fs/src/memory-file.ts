import { isUtf8 } from 'node:buffer';
import { chownSync, closeSync, constants, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { applyMemoryChange, type MemoryLimits } from '@ethosagent/policy';
import {
  EthosError,
  type MemoryChange,
  type MemoryDocument,
  type Storage,
} from '@ethosagent/types';
import { isMissing } from './errno.js';
import { editMarkdown } from './markdown-edit.js';
import { memoryState } from './memory-state.js';
import { keepVersion } from './memory-versions.js';
import { temporaryName } from './temp-files.js';

/** The file of a memory, and a storage that reaches only the file's folder. */
export interface MemoryFile {
  path: string;
  storage: Storage;
}

/** The limits, and how old versions are kept. */
export interface ChangeRules {
  limits: MemoryLimits;
  maxVersions: number;
  clock: () => number;
}

export async function readMemory({ path, storage }: MemoryFile): Promise<MemoryDocument> {
  return memoryState((await storage.read(path)) ?? '').document;
}

/**
 * Applies one change to the file as it is now, and keeps the content that it replaces.
 *
 * @returns `undefined` if the file was changed meanwhile by somebody else; then nothing was
 * replaced
 */
export async function changeMemory(
  file: MemoryFile,
  change: MemoryChange,
  {
    limits,
    maxVersions,
    clock,
    expectedRevision,
  }: ChangeRules & { expectedRevision: string | undefined },
): Promise<MemoryDocument | undefined> {
  const { path, storage } = file;
  const bytes = Buffer.from((await storage.readBytes(path)) ?? []);
  if (!isUtf8(bytes)) {
    // Text that is not UTF-8 could not be kept byte for byte.
    throw new EthosError('STORE_UNAVAILABLE', 'the memory file is not UTF-8 text; convert it');
  }
  const markdown = bytes.toString();
  const { document, placed } = memoryState(markdown);
  if (expectedRevision !== undefined && expectedRevision !== document.revision) {
    throw new EthosError(
      'MEMORY_CHANGED',
      'the memory was changed since it was read; read it again',
    );
  }
  const after = applyMemoryChange(document.sections, change, limits);
  const edited = editMarkdown(markdown, placed, after);
  if (edited === markdown) return document;
  await keepVersion(storage, path, { markdown, now: clock(), maxVersions });
  const isReplaced = await replaceIfSame(file, bytes, edited);
  return isReplaced ? memoryState(edited).document : undefined;
}

/**
 * Replaces a file, unless somebody changed it meanwhile. That may be a program that ignores the
 * lock. No other code of this process runs between the comparison and the replacement.
 *
 * @returns whether it was replaced
 */
async function replaceIfSame(
  { path, storage }: MemoryFile,
  old: Buffer,
  content: string,
): Promise<boolean> {
  const stat = statSync(path, { throwIfNoEntry: false });
  const draft = join(dirname(path), temporaryName());
  const mode = stat === undefined ? 0o600 : stat.mode & 0o777;
  await storage.write(draft, content, { mode });
  if (stat !== undefined) keepOwner(draft, stat);
  let isSame = true;
  try {
    await storage.rename(draft, path, {
      beforeChange() {
        isSame = contentAt(path).equals(old);
        if (!isSame) throw new EthosError('MEMORY_CHANGED', 'the file was changed meanwhile');
      },
    });
    return true;
  } catch (error) {
    await storage.remove(draft);
    if (!isSame) return false;
    throw error;
  }
}

function contentAt(path: string): Buffer {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Gives the file its old owner, so that a user's file stays theirs when root changes it. */
function keepOwner(draft: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(draft, uid, gid);
  } catch {
    // Only root may do this. For other users the file becomes their own, as with every editor that
    // replaces files.
  }
}
