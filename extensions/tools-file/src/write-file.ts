import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { errorCodeOf, type ScopedFs, type ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { withBoundaryFailures } from './boundary-failure.js';
import {
  assertWritable,
  type EditContext,
  mtimeIfReadable,
  staleWrite,
  writeAndRecord,
  writeUnread,
} from './edit-file.js';
import { absolutePath, displayPath } from './file-path.js';
import { withEditLock } from './path-lock.js';
import { changeSinceRead } from './read-records.js';
import { decodeText } from './text-encoding.js';
import { countLines } from './text-lines.js';

interface WriteArgs {
  path: string;
  content: string;
  create_only: boolean;
}

/**
 * Creates or replaces a text file, in UTF-8. Needs `fs_reach.read` and `fs_reach.write`. When the
 * file was changed or deleted since `read_file` showed it in the same run, it answers `STALE_WRITE`
 * and writes nothing. A dry run shows the difference.
 */
export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Create a text file, or replace its whole content. Missing folders are created. Refused when the file was changed or deleted since you read it. To change parts of a file, use patch_file.',
  toolset: 'file',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file; relative to the working directory.'),
    content: z
      .string()
      .refine((content) => content.isWellFormed(), 'holds half a surrogate pair')
      .describe('The whole content, line endings included. Written as UTF-8.'),
    create_only: z
      .boolean()
      .default(false)
      .describe('Refuse when there is something at the path already.'),
  }),
  capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
  outputIsUntrusted: true,
  supportsDryRun: true,
  execute: (args, ctx) =>
    withBoundaryFailures(() => {
      const path = absolutePath(ctx.workingDir, args.path);
      return withEditLock(path, () => writeFile(args, path, ctx));
    }),
});

async function writeFile(
  { content, create_only }: WriteArgs,
  path: string,
  ctx: EditContext & { dryRun?: boolean },
): Promise<ToolResult> {
  ctx.abortSignal.throwIfAborted();
  const { scopedFs: fs } = ctx;
  const name = displayPath(ctx.workingDir, path);
  // Whether something is there must be known only where it decides.
  const before = create_only ? await fs.mtime(path) : await mtimeIfReadable(fs, path);
  if (create_only && before !== null) {
    return err(
      `ALREADY_EXISTS: there is something at ${name}. Nothing was written. Change it with patch_file, or repeat without create_only to replace it.`,
      'execution_failed',
      'ALREADY_EXISTS',
    );
  }
  const change = await changeSinceRead(ctx, { fs, path });
  if (change !== undefined) return staleWrite(ctx, path, change);

  const bytes = Buffer.from(content);
  const lines = countLines(content);
  const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes.length} bytes`;
  const facts = {
    path,
    sizeBytes: bytes.length,
    ...(before !== undefined && { created: before === null }),
  };
  if (ctx.dryRun === true) {
    assertWritable(fs, path);
    const old = before === null || before === undefined ? undefined : await readText(fs, path);
    const { unifiedDiff } = await import('./unified-diff.js');
    const diff = unifiedDiff(name, old, content);
    const verb = before === undefined ? 'written' : before === null ? 'created' : 'replaced';
    return ok(`[dry-run] ${name} would be ${verb}: ${size}.\n${diff.text}`, {
      structured: { ...facts, dryRun: true, added: diff.added, removed: diff.removed },
      ...(old === undefined && { untrusted: false }),
    });
  }
  // The look at the file before the write was denied, so a second one would be, too.
  const mtimeMs =
    before === undefined
      ? await writeUnread(ctx, path, bytes)
      : await writeAndRecord(ctx, path, bytes);
  const verb = before === undefined ? 'Wrote' : before === null ? 'Created' : 'Replaced';
  return ok(`${verb} ${name}: ${size}.`, {
    structured: { ...facts, ...(mtimeMs !== undefined && { mtimeMs }) },
    // The model's own words, and how many they were.
    untrusted: false,
  });
}

/** Reads the text of a file. It is empty when the file is binary or too large to compare. */
async function readText(fs: ScopedFs, path: string): Promise<string> {
  try {
    return (await decodeText(await fs.readBytes(path)))?.text ?? '';
  } catch (error) {
    if (errorCodeOf(error) === 'FILE_TOO_LARGE') return '';
    throw error;
  }
}
