import { takeStart } from '@ethosagent/policy';
import { type Hunk, type HunkProblem, MAX_AMBIGUOUS } from './apply-hunks.js';
import { nearestRegion } from './nearest-region.js';
import { lineNumbersAt } from './text-lines.js';

const MAX_REGION_LINES = 15;
const MAX_REGION_LINE_CHARS = 300;

/** Says why a hunk doesn't apply and what to change, with the part of the file it may have meant. */
export function renderHunkProblem(problem: HunkProblem, hunk: Hunk, text: string): string {
  switch (problem.kind) {
    case 'empty':
      return 'its search text is empty. Give the text that is to be replaced, or use write_file.';
    case 'no change':
      return 'its search and replacement are the same. Leave it out, or correct one of them.';
    case 'ambiguous': {
      const { lines, tolerance } = problem;
      const count = lines.length < MAX_AMBIGUOUS ? lines.length : `at least ${lines.length}`;
      const how = tolerance === undefined ? '' : ` but for ${tolerance}`;
      return `its search text is there ${count} times${how}, at lines ${lines.join(', ')}. Add lines around the one that you mean, or set replace_all.`;
    }
    case 'not found':
      return `its search text is not in the file. ${hintFor(hunk, text)}`;
  }
}

function hintFor(hunk: Hunk, text: string): string {
  const again = 'Copy the search text from what read_file shows.';
  const applied = hunk.replace.trim() === '' ? -1 : text.indexOf(hunk.replace);
  if (applied !== -1) {
    const [line] = lineNumbersAt(text, [applied]);
    return `The replacement is there already, at line ${line}: the edit may have been made before.`;
  }
  const region = nearestRegion(text, hunk.search);
  if (region === undefined) return again;
  const lines = region.lines.slice(0, MAX_REGION_LINES).map((line, at) => {
    const shown = takeStart(line, MAX_REGION_LINE_CHARS);
    return `${region.startLine + at}\t${shown}${shown === line ? '' : '…'}`;
  });
  return `${again} The nearest part of the file, with line numbers:\n${lines.join('\n')}`;
}
