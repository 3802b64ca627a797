import { err } from '@ethosagent/plugin-sdk';
import {
  BoundaryError,
  errorCodeOf,
  type ScopedFs,
  type ToolContext,
  type ToolResult,
} from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { type FileChange, recordContent } from './read-records.js';

/** The part of the tool context that an edit uses. */
export type EditContext = Pick<
  ToolContext,
  'abortSignal' | 'currentTurn' | 'readMtimes' | 'workingDir'
> & { scopedFs: ScopedFs };

/**
 * Writes a file and records its content as read, so that a later edit of the same run isn't stale.
 *
 * @returns the new modification time in milliseconds; `undefined` when the call may not read the
 *   file
 */
export async function writeAndRecord(
  ctx: EditContext,
  path: string,
  bytes: Uint8Array,
): Promise<number | undefined> {
  await writeUnread(ctx, path, bytes);
  const mtimeMs = (await mtimeIfReadable(ctx.scopedFs, path)) ?? undefined;
  if (mtimeMs !== undefined) recordContent(ctx, path, { mtimeMs, bytes });
  return mtimeMs;
}

/** Writes a file that the call may not read. It reads nothing and records nothing. */
export async function writeUnread(
  { abortSignal, scopedFs }: EditContext,
  path: string,
  bytes: Uint8Array,
): Promise<undefined> {
  abortSignal.throwIfAborted();
  await scopedFs.write(path, bytes);
}

/**
 * Checks for a dry run whether the file could be written. Where a link leads is only known when it
 * is written.
 *
 * @throws `PATH_NOT_REACHABLE`, as the write would
 */
export function assertWritable(fs: ScopedFs, path: string): void {
  if (fs.covers?.('write', path) === false) throw new BoundaryError('write', path);
}

/**
 * Returns the modification time in milliseconds; `null` when there is no file; `undefined` when the
 * call may not read it.
 */
export async function mtimeIfReadable(
  fs: ScopedFs,
  path: string,
): Promise<number | null | undefined> {
  // A folder that may only be written is no mistake of anybody, so no denial goes into the log.
  if (fs.covers?.('read', path) === false) return undefined;
  try {
    return await fs.mtime(path);
  } catch (error) {
    if (errorCodeOf(error) === 'PATH_NOT_REACHABLE') return undefined;
    throw error;
  }
}

/** Refuses to overwrite a file that changed after it was read, or to bring back a deleted one. */
export function staleWrite(ctx: EditContext, path: string, change: FileChange): ToolResult {
  const turn = ctx.readMtimes?.get(path)?.readAtTurn;
  const since = turn === undefined ? '' : ` in turn ${turn}`;
  const next =
    change === 'deleted'
      ? 'If it is to be created anew, read it with read_file, which says that it is gone, then write it with write_file.'
      : 'Read it again with read_file, then repeat the edit on what it holds now.';
  return err(
    `${displayPath(ctx.workingDir, path)} was ${change} since it was read${since}. Nothing was written. ${next}`,
    'STALE_WRITE',
  );
}
