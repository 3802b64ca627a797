import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import type { AppliedHunk } from './apply-hunks.js';
import { withBoundaryFailures } from './boundary-failure.js';
import { assertWritable, type EditContext, staleWrite, writeAndRecord } from './edit-file.js';
import { absolutePath, displayPath } from './file-path.js';
import type { Hunk } from './hunk.js';
import { missingFile, readIfThere } from './missing-file.js';
import { withEditLock } from './path-lock.js';
import { changeSinceRead } from './read-records.js';
import { renderHunkProblem } from './render-hunk-problem.js';
import { decodeText, encodeText } from './text-encoding.js';
import { countLines } from './text-lines.js';

/** Each line takes up to a hundred bytes of memory several times. */
const MAX_LINES = 1_000_000;

/**
 * Changes parts of a text file, with all hunks or none. Needs `fs_reach.read` and `fs_reach.write`.
 * Like `write_file`, it answers `STALE_WRITE` when the file changed since `read_file` showed it,
 * and shows the difference on a dry run.
 */
export const patchFileTool = defineTool({
  name: 'patch_file',
  description:
    'Change parts of a text file by search and replace. Each hunk names a text that is in the file exactly once (or set replace_all) and what takes its place, literally. Hunks apply in order, all or none. Differences in white space are tolerated where the result is clear. Encoding and line endings stay. Refused when the file was changed since you read it.',
  toolset: 'file',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file; relative to the working directory.'),
    hunks: z
      .array(
        z.strictObject({
          search: z
            .string()
            .describe('The text to replace, copied from the file, with enough lines to be unique.'),
          replace: z.string().describe('The text that takes its place; empty to remove it.'),
          replace_all: z.boolean().default(false).describe('Replace every occurrence.'),
          exact: z
            .boolean()
            .optional()
            .describe(
              'Take both texts literally, white space and all; for a change of indentation.',
            ),
        }),
      )
      .min(1)
      .describe('The changes, in order; a later one sees what the earlier ones made.'),
  }),
  capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
  outputIsUntrusted: true,
  supportsDryRun: true,
  execute: (args, ctx) =>
    withBoundaryFailures(() => {
      const path = absolutePath(ctx.workingDir, args.path);
      return withEditLock(path, () => patchFile(args.hunks, path, ctx));
    }),
});

async function patchFile(
  hunks: readonly Hunk[],
  path: string,
  ctx: EditContext & { dryRun?: boolean },
): Promise<ToolResult> {
  // Loaded for the first patch, and before the file is read.
  const { applyHunks } = await import('./apply-hunks.js');
  const { unifiedDiff } = await import('./unified-diff.js');
  ctx.abortSignal.throwIfAborted();
  const { scopedFs: fs } = ctx;
  const name = displayPath(ctx.workingDir, path);
  const bytes = await readIfThere(fs, path);
  const change = await changeSinceRead(ctx, { fs, path, content: bytes ?? null });
  if (change !== undefined) return staleWrite(ctx, path, change);
  if (bytes === undefined) return missingFile(fs, ctx.workingDir, path);

  const decoded = await decodeText(bytes);
  if (decoded === undefined) return err(`${name} is a binary file. Nothing was changed.`);
  if (decoded.lossy) {
    return err(
      `${name} has bytes that are invalid in ${decoded.encoding}; a patch would damage them. Nothing was changed. Tell the user, or replace the whole file with write_file.`,
    );
  }
  const lines = countLines(decoded.text);
  if (lines > MAX_LINES) {
    return err(
      `${name} has ${lines} lines, and only files of up to ${MAX_LINES} lines can be patched. Nothing was changed. Tell the user, or change it with a program.`,
    );
  }
  const outcome = applyHunks(decoded.text, hunks);
  if (!outcome.ok) {
    const { index, problem } = outcome;
    const hunk = hunks[index] ?? { search: '', replace: '' };
    const isMalformed = problem.kind === 'empty' || problem.kind === 'no change';
    return err(
      `Hunk ${index + 1} of ${hunks.length} does not apply to ${name}, so nothing was changed: ${renderHunkProblem(problem, hunk, outcome.text)}`,
      isMalformed ? 'input_invalid' : 'execution_failed',
    );
  }
  const patched = await encodeText(outcome.text, decoded);
  if (patched === undefined) {
    return err(
      `A replacement has characters that ${decoded.encoding}, the encoding of ${name}, can not hold. Nothing was changed.`,
    );
  }
  const diff = unifiedDiff(name, decoded.text, outcome.text);
  const structured = {
    path,
    hunks: outcome.hunks.length,
    applied: outcome.hunks,
    added: diff.added,
    removed: diff.removed,
    encoding: decoded.encoding,
  };
  const summary = `${countOf(outcome.hunks.length)}, +${diff.added} -${diff.removed}${tolerances(outcome.hunks)}`;
  if (ctx.dryRun === true) {
    assertWritable(fs, path);
    return ok(`[dry-run] ${name} would be patched: ${summary}.\n${diff.text}`, {
      structured: { ...structured, dryRun: true },
    });
  }
  const mtimeMs = await writeAndRecord(ctx, path, patched);
  return ok(`Patched ${name}: ${summary}.\n${diff.text}`, {
    structured: { ...structured, ...(mtimeMs !== undefined && { mtimeMs }) },
  });
}

function countOf(hunks: number): string {
  return hunks === 1 ? '1 hunk' : `${hunks} hunks`;
}

/** Says which hunks were found only because differences were ignored. */
function tolerances(hunks: readonly AppliedHunk[]): string {
  const some = hunks.flatMap(({ tolerance }, at) =>
    tolerance === undefined ? [] : [`hunk ${at + 1} matched except for ${tolerance}`],
  );
  return some.length === 0 ? '' : ` (${some.join('; ')})`;
}
