import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { countLines } from './text-lines.js';

const CONTEXT_LINES = 3;
// Keeps the quadratic worst case, two texts with little in common, below a second.
const MAX_EDITS = 2_000;
/** The lines of both versions take up to a hundred times the memory of their text. */
const MAX_LINES = 2_500_000;

/** The differences between two versions of a file. */
export interface FileDiff {
  /** A unified diff. Empty when nothing differs; a remark when the diff would be too long. */
  text: string;
  added: number;
  removed: number;
}

/**
 * Compares two versions of a file.
 *
 * @param name the name of the file in the diff
 * @param before the old text; `undefined` for a new file
 */
export function unifiedDiff(name: string, before: string | undefined, after: string): FileDiff {
  if (before === after) return { text: '', added: 0, removed: 0 };
  const oldName = before === undefined ? '/dev/null' : name;
  const [removed, added] = [countLines(before ?? ''), countLines(after)];
  if (removed + added > MAX_LINES) {
    return { text: '[the versions have too many lines to show a diff]', added, removed };
  }
  const patch = structuredPatch(oldName, name, before ?? '', after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) {
    return { text: '[the versions have too little in common to show a diff]', added, removed };
  }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    text: formatPatch(patch, FILE_HEADERS_ONLY),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}
