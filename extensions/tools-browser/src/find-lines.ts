import { depthOf } from './line-depth.js';

/** How many lines are shown before and after each found line. */
const AROUND = 1;

/**
 * Finds the lines of a snapshot that have a text, with the lines beside them and those that contain
 * them.
 */
export function findLines(
  lines: readonly string[],
  text: string,
  limit: number,
): { lines: string[]; found: number } {
  const parts = text.toLowerCase().split('*');
  const found = lines.flatMap((line, at) => (hasParts(line.toLowerCase(), parts) ? [at] : []));
  const wanted = new Set<number>();
  for (const at of found.slice(0, limit)) {
    for (let near = at - AROUND; near <= at + AROUND; near += 1) {
      if (near in lines) wanted.add(near);
    }
    for (const above of parentsOf(lines, at)) wanted.add(above);
  }
  const places = [...wanted].sort((a, b) => a - b);
  return { lines: places.map((at) => lines[at] ?? ''), found: found.length };
}

/** Whether a text has the parts one after another. The time is linear in the text. */
function hasParts(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return true;
}

function parentsOf(lines: readonly string[], at: number): number[] {
  const parents: number[] = [];
  let depth = depthOf(lines[at]);
  for (let above = at - 1; above >= 0 && depth > 0; above -= 1) {
    const own = depthOf(lines[above]);
    if (own >= depth) continue;
    parents.push(above);
    depth = own;
  }
  return parents;
}
