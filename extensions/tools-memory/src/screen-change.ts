import type { Finding } from './finding.js';
import { screenText } from './screen-text.js';

// Around what changed: what is further away can't be a part of what was put together.
const AROUND_CHARS = 2_000;

/** What is found in a text after a change, and was not in it before. */
export async function newFindings(before: string, after: string): Promise<Finding[]> {
  if (before === '' || before === after) return [];
  const [begin, end] = changedPart(before, after);
  const fromEnd = after.length - end;
  const wasBefore = part(before, begin, before.length - fromEnd);
  const [old, now] = await Promise.all([
    screenText(wasBefore.text),
    screenText(part(after, begin, end).text),
  ]);
  const known = new Map<string, number>();
  for (const { what } of old) known.set(what, (known.get(what) ?? 0) + 1);
  const lines = after.slice(0, Math.max(0, begin - AROUND_CHARS)).split('\n').length - 1;
  return now
    .filter(({ what }) => {
      const left = known.get(what) ?? 0;
      known.set(what, left - 1);
      return left <= 0;
    })
    .map((finding) => ({ ...finding, line: finding.line + lines }));
}

/** Where two texts differ, in the second. */
function changedPart(before: string, after: string): [begin: number, end: number] {
  const most = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < most && before[begin] === after[begin]) begin += 1;
  let same = 0;
  while (same < most - begin && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return [begin, after.length - same];
}

function part(text: string, begin: number, end: number): { text: string } {
  const around = text.slice(Math.max(0, begin - AROUND_CHARS), end + AROUND_CHARS);
  return { text: around.toWellFormed() };
}
