import { diffArrays } from 'diff';
import { depthOf } from './line-depth.js';

/** When more lines than this changed, the whole page is shown. */
const MAX_EDITS = 400;
/** Only the changes are shown when they are shorter than this share of the whole page. */
const WORTH_IT = 0.6;
const GONE_LINES = 3;
/** Matches the ref of a line, which comes after its role and its name in quotes. */
const LINE_REF = /^ *- [\w-]+(?: "(?:[^"\\]|\\.)*")? ([a-z]{2}\d+)/;
const FOCUS = ' [active]';

/**
 * Compares two snapshots of one document. New lines have a `+`, lines that are gone have a `-`, and
 * the unchanged line above them shows where they are. Lines that differ only in the focus count as
 * equal.
 *
 * @returns the changes; `undefined` when the whole page is shorter, or when the snapshots differ
 *   too much
 */
export function changedLines(
  before: readonly string[],
  after: readonly string[],
): string[] | undefined {
  const changes = diffArrays([...before], [...after], {
    comparator: (left, right) => withoutFocus(left) === withoutFocus(right),
    maxEditLength: MAX_EDITS,
  });
  if (changes === undefined) return undefined;
  const refs = new Set(after.map(refOf));
  // A removed line is left out when its ref still exists, because the new line shows it, or when it has no
  // text.
  const isGone = (line: string) => {
    const ref = refOf(line);
    return ref === undefined ? line.includes('"') : !refs.has(ref);
  };
  const lines: string[] = [];
  let at = 0;
  let told: string | undefined;
  for (const { added, removed, value } of changes) {
    if (!added && !removed) {
      at += value.length;
      continue;
    }
    if (removed && !value.some(isGone)) continue;
    const parent = parentOf(after, at, value[0] ?? '');
    if (parent !== undefined && parent !== told && !lines.includes(`+${parent}`)) {
      lines.push(` ${parent}`);
    }
    told = parent;
    lines.push(...(added ? value.map((line) => `+${line}`) : gone(value.filter(isGone))));
    if (added) at += value.length;
  }
  const size = (all: readonly string[]) => all.reduce((sum, line) => sum + line.length + 1, 0);
  return size(lines) <= size(after) * WORTH_IT ? lines : undefined;
}

function refOf(line: string): string | undefined {
  return LINE_REF.exec(line)?.[1];
}

function withoutFocus(line: string): string {
  return line.replace(FOCUS, '');
}

/** Finds the nearest line above that contains this one. */
function parentOf(lines: readonly string[], at: number, line: string): string | undefined {
  const depth = depthOf(line);
  for (let above = at - 1; above >= 0; above -= 1) {
    const candidate = lines[above];
    if (candidate !== undefined && depthOf(candidate) < depth) return candidate;
  }
  return undefined;
}

function gone(lines: readonly string[]): string[] {
  if (lines.length <= GONE_LINES) return lines.map((line) => `-${line}`);
  const [first = '', ...rest] = lines;
  return [`-${first}`, `- (and ${rest.length} lines after it)`];
}
