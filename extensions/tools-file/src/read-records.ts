import { createHash } from 'node:crypto';
import { errorCodeOf, type ScopedFs, type ToolContext } from '@ethosagent/types';

/** Which files a run has read, and when, by absolute path. */
export type ReadRecords = NonNullable<ToolContext['readMtimes']>;

interface Fingerprint {
  /**
   * The time stamp of the record that the hash belongs to. A newer record makes the hash invalid.
   */
  mtimeMs: number;
  hash: string;
}

// A time stamp alone misses a change within its resolution, and takes a mere touch for a change. The type
// of the records has no field for a hash, so the hashes are beside them and live as long as they do.
const fingerprints = new WeakMap<ReadRecords, Map<string, Fingerprint>>();

/** Records the content of a file that was read or written, as a hash. */
export function recordContent(
  ctx: Pick<ToolContext, 'readMtimes' | 'currentTurn'>,
  path: string,
  { mtimeMs, bytes }: { mtimeMs: number; bytes: Uint8Array },
): void {
  const { readMtimes: records } = ctx;
  if (records === undefined) return;
  records.set(path, { mtimeMs, readAtTurn: ctx.currentTurn });
  const hashes = fingerprints.get(records) ?? new Map<string, Fingerprint>();
  hashes.set(path, { mtimeMs, hash: hashOf(bytes) });
  fingerprints.set(records, hashes);
}

/** Forgets a file after the model was told that it is gone. A write now creates it. */
export function forgetContent(ctx: Pick<ToolContext, 'readMtimes'>, path: string): void {
  ctx.readMtimes?.delete(path);
}

/** What happened to a file since it was recorded, if anything. */
export type FileChange = 'changed' | 'deleted';

/**
 * Finds out what happened to a file since it was recorded. It compares the content if there is a
 * hash of it, else the time stamp.
 *
 * @param file.content what the file has now, if the caller knows it; `null` when there is no file
 * @returns `undefined` when the file has no record, or did not change
 */
export async function changeSinceRead(
  ctx: Pick<ToolContext, 'readMtimes'>,
  { fs, path, content }: { fs: ScopedFs; path: string; content?: Uint8Array | null },
): Promise<FileChange | undefined> {
  const { readMtimes: records } = ctx;
  const record = records?.get(path);
  if (records === undefined || record === undefined) return undefined;
  if (content === null) return 'deleted';
  const fingerprint = fingerprints.get(records)?.get(path);
  if (fingerprint?.mtimeMs !== record.mtimeMs) {
    const mtimeMs = await fs.mtime(path);
    if (mtimeMs === null) return 'deleted';
    return mtimeMs === record.mtimeMs ? undefined : 'changed';
  }
  try {
    const hash = hashOf(content ?? (await fs.readBytes(path)));
    return hash === fingerprint.hash ? undefined : 'changed';
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'FILE_NOT_FOUND') return 'deleted';
    // It was small enough to be read before, so it has changed.
    if (code === 'FILE_TOO_LARGE') return 'changed';
    throw error;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
