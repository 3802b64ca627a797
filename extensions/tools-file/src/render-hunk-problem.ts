import { takeStart } from '@ethosagent/policy';
import type { HunkProblem } from './apply-hunks.js';
import { type Hunk, MAX_AMBIGUOUS } from './hunk.js';
import { nearestRegion } from './nearest-region.js';
import { linesOf } from './text-lines.js';

const MAX_REGION_LINES = 15;
const MAX_REGION_LINE_CHARS = 300;

/**
 * Says why a hunk does not apply and what to change, and shows the part of the file that it may
 * mean.
 */
export function renderHunkProblem(problem: HunkProblem, hunk: Hunk, text: string): string {
  switch (problem.kind) {
    case 'empty':
      return 'its search text is empty. Give the text that is to be replaced, or use write_file.';
    case 'no change':
      return 'its search and replacement are the same. Leave it out, or correct one of them.';
    case 'ambiguous': {
      const { lines, tolerance } = problem;
      const count = lines.length < MAX_AMBIGUOUS ? lines.length : `at least ${lines.length}`;
      const how = tolerance === undefined ? '' : ` except for ${tolerance}`;
      return `its search text is there ${count} times${how}, at lines ${lines.join(', ')}. Add lines around the one that you mean, or set replace_all.`;
    }
    case 'unclear':
      return `its place is clear, at line ${problem.line}, but not the white space that its replacement is to have. Write both texts with the columns of the file, as read_file shows them, with a line around the change that stays; or set exact, where they are as they are meant. ${differences(text, hunk.search, problem.line)}`;
    case 'already applied':
      return `it is already applied, at line ${problem.line}. Leave it out.`;
    case 'not found':
      return `its search text is not in the file. ${hintFor(hunk, text)}`;
  }
}

function hintFor(hunk: Hunk, text: string): string {
  const again = 'Copy the search text from what read_file shows.';
  const region = nearestRegion(text, hunk.search);
  if (region === undefined) return again;
  return `${again} ${differences(text, hunk.search, region.startLine)}`;
}

/**
 * Renders a place with line numbers. Below each line that differs is the line of the search text.
 */
function differences(text: string, search: string, startLine: number): string {
  const there = linesOf(text)
    .slice(startLine - 1)
    .map((line) => line.text);
  const wanted = linesOf(search).map((line) => line.text);
  const shown = wanted.slice(0, MAX_REGION_LINES).flatMap((line, at) => {
    const found = there[at];
    if (found === undefined) return [];
    const row = `${startLine + at}\t${shortened(found)}`;
    if (found === line) return [row];
    const [yours, own] = [shortened(line), shortened(found)];
    const isBlank = yours.trim() === own.trim();
    return [row, `\t^ your text has ${isBlank ? JSON.stringify(yours) : yours}`];
  });
  return `The nearest part of the file, with line numbers:\n${shown.join('\n')}`;
}

function shortened(line: string): string {
  const shown = takeStart(line, MAX_REGION_LINE_CHARS);
  return `${shown}${shown === line ? '' : '…'}`;
}
