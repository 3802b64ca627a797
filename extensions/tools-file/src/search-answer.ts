import type { ToolContext } from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { type FileHits, renderHits, renderNames } from './render-search.js';
import type { SearchArgs } from './search-input.js';

const NOTE_CHARS = 300;

/** The matches of a search, no more than were asked for. */
export type SearchFindings =
  | { mode: 'names'; paths: readonly string[]; hasMore: boolean }
  | { mode: 'content'; files: readonly FileHits[]; hasMore: boolean };

/** The text and the payload of a result. */
export interface SearchAnswer {
  value: string;
  structured: Record<string, unknown>;
}

/** Renders the findings within the budget, and says when there is more. */
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
      value:
        shown === 0
          ? nothing(args)
          : withNote(text, `the first ${shown} files are shown`, truncated),
      structured: { mode, files: findings.paths.slice(0, shown), truncated },
    };
  }
  const { text, shown, isCut } = renderHits(findings.files, {
    context: args.context,
    workingDir: ctx.workingDir,
    maxChars: room,
  });
  const files = findings.files
    .slice(0, shown)
    .map(({ path, hits }) => ({ path, lines: hits.map(({ line }) => line) }));
  const matches = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const truncated = findings.hasMore || isCut;
  const note = `the first ${matches} matching lines, in ${shown} files, are shown`;
  return {
    value: shown === 0 ? nothing(args) : withNote(text, note, truncated),
    structured: { mode, files, matches, truncated },
  };
}

function nothing(args: SearchArgs): string {
  return `[nothing matches${leftOut(args)}]`;
}

function withNote(text: string, note: string, truncated: boolean): string {
  if (!truncated) return text;
  return `${text}\n\n[${note}; there are more: narrow the search, or raise max_results]`;
}

function leftOut({ hidden, include_ignored }: SearchArgs): string {
  const kinds = [hidden ? [] : ['hidden files'], include_ignored ? [] : ['ignored files']].flat();
  return kinds.length === 0 ? '' : `; ${kinds.join(' and ')} were left out`;
}
