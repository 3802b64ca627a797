import type { ToolContext } from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { type FileHits, renderHits, renderNames } from './render-search.js';
import type { SearchArgs } from './search-input.js';

const NOTE_CHARS = 300;

/** What a search found, up to what was asked for. */
export type SearchFindings =
  | { mode: 'names'; paths: readonly string[]; hasMore: boolean }
  | { mode: 'content'; files: readonly FileHits[]; hasMore: boolean };

/** The text and the payload of a result. */
export interface SearchAnswer {
  value: string;
  structured: Record<string, unknown>;
}

/** Writes out what was found, within the budget, and says when there is more. */
export function answerOf(
  findings: SearchFindings,
  args: SearchArgs,
  ctx: Pick<ToolContext, 'workingDir' | 'resultBudgetChars'>,
): SearchAnswer {
  const room = Math.max(ctx.resultBudgetChars - NOTE_CHARS, 0);
  const { mode } = findings;
  if (mode === 'names') {
    const names = findings.paths.map((path) => displayPath(ctx.workingDir, path));
    const { text, shown, isCut } = renderNames(names, room);
    const truncated = findings.hasMore || isCut;
    return {
      value: withNote(text, shown === 0, `the first ${shown} files are shown`, truncated, args),
      structured: { mode, files: findings.paths.slice(0, shown), truncated },
    };
  }
  const { text, shown, isCut } = renderHits(findings.files, args.context, ctx.workingDir, room);
  const files = findings.files
    .slice(0, shown)
    .map(({ path, hits }) => ({ path, lines: hits.map(({ line }) => line) }));
  const matches = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const truncated = findings.hasMore || isCut;
  const note = `the first ${matches} matching lines, in ${shown} files, are shown`;
  return {
    value: withNote(text, shown === 0, note, truncated, args),
    structured: { mode, files, matches, truncated },
  };
}

function withNote(
  text: string,
  isEmpty: boolean,
  note: string,
  truncated: boolean,
  args: SearchArgs,
): string {
  if (isEmpty) return `[nothing matches${leftOut(args)}]`;
  if (!truncated) return text;
  return `${text}\n\n[${note}; there are more: narrow the search, or raise max_results]`;
}

function leftOut({ hidden, include_ignored }: SearchArgs): string {
  const kinds = [hidden ? [] : ['hidden files'], include_ignored ? [] : ['ignored files']].flat();
  return kinds.length === 0 ? '' : `; ${kinds.join(' and ')} were left out`;
}
