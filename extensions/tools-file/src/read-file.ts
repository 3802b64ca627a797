import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { readImage } from '@ethosagent/policy';
import type { ScopedFs, ToolContext, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { guessBinaryType } from './binary-type.js';
import { withBoundaryFailures } from './boundary-failure.js';
import { absolutePath, displayPath } from './file-path.js';
import { imageResult } from './image-result.js';
import { missingFile, readIfThere } from './missing-file.js';
import { withPathLock } from './path-lock.js';
import { forgetContent, recordContent } from './read-records.js';
import { DEFAULT_LIMIT, renderRead } from './render-read.js';
import { decodeText } from './text-encoding.js';
import { countLines } from './text-lines.js';

const NAME = 'read_file';
const LARGE_BYTES = 1024 * 1024;

type ReadContext = Pick<
  ToolContext,
  'abortSignal' | 'currentTurn' | 'emit' | 'readMtimes' | 'resultBudgetChars' | 'workingDir'
> & { scopedFs: ScopedFs };

/**
 * Reads a text file or some of its lines, or shows an image. Of another binary file, it tells only
 * the type and the size. It records the content in `ctx.readMtimes`, for the check of a later
 * write. Needs `fs_reach.read`.
 */
export const readFileTool = defineTool({
  name: NAME,
  description:
    'Read a text file, or look at an image (PNG, JPEG, GIF, WebP). Shows all of a text, or the lines asked for; a last line in brackets says when there is more and how to read on. Encodings are detected. Of other binary files, only type and size are shown. Read a file before changing it.',
  toolset: 'file',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file; relative to the working directory.'),
    offset: z.int().min(1).default(1).describe('Number of the first line to show, counted from 1.'),
    limit: z.int().min(1).default(DEFAULT_LIMIT).describe('How many lines to show at most.'),
    line_numbers: z
      .boolean()
      .default(false)
      .describe('Put its number and a tab before each line. They are not part of the file.'),
  }),
  capabilities: { fs_reach: { read: 'from-personality' } },
  outputIsUntrusted: true,
  execute: (args, ctx) =>
    withBoundaryFailures(() => {
      const path = absolutePath(ctx.workingDir, args.path);
      // The lock is held during the read: without it, the record could hold the content from before an edit.
      return withPathLock(path, () => readFile(args, path, ctx));
    }),
});

async function readFile(
  args: { offset: number; limit: number; line_numbers: boolean },
  path: string,
  ctx: ReadContext,
): Promise<ToolResult> {
  ctx.abortSignal.throwIfAborted();
  const { scopedFs: fs } = ctx;
  // The time is read before the content. A change in between makes the record older than the file, so a
  // later edit is refused. The other order would accept it.
  const mtimeMs = await fs.mtime(path);
  const bytes = mtimeMs === null ? undefined : await readIfThere(fs, path);
  if (mtimeMs === null || bytes === undefined) {
    forgetContent(ctx, path);
    return missingFile(fs, ctx.workingDir, path);
  }
  const name = displayPath(ctx.workingDir, path);
  if (bytes.length > LARGE_BYTES) {
    const message = `reading ${name} (${Math.round(bytes.length / LARGE_BYTES)} MB)`;
    ctx.emit({ type: 'progress', toolName: NAME, message, audience: 'user' });
  }

  const image = readImage(bytes);
  const decoded = image?.ok === true ? undefined : await decodeText(bytes);
  const about = { path, mtimeMs, sizeBytes: bytes.length };
  if (decoded === undefined && image !== undefined)
    return imageResult(name, { image, bytes, about });
  if (decoded === undefined) {
    const type = (await guessBinaryType(bytes)) ?? 'of unknown type';
    return ok(
      `[${name} is a binary file, ${type}, ${bytes.length} bytes; its content is not shown]`,
      { structured: { ...about, encoding: 'binary', totalLines: 0, startLine: 0, endLine: 0 } },
    );
  }
  const rendered = renderRead(decoded.text, {
    offset: args.offset,
    limit: args.limit,
    lineNumbers: args.line_numbers,
    maxChars: ctx.resultBudgetChars,
  });
  if (rendered === undefined) {
    return err(
      `${name} has ${countLines(decoded.text)} lines, so none at offset ${args.offset}.`,
      'input_invalid',
    );
  }
  ctx.abortSignal.throwIfAborted();
  recordContent(ctx, path, { mtimeMs, bytes });
  const { value, ...lines } = rendered;
  return ok(value, { structured: { ...about, encoding: decoded.encoding, ...lines } });
}
