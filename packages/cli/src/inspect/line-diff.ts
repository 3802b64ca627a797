/** A line of a comparison, from both texts or from one of them. */
export interface DiffLine {
  kind: 'same' | 'old' | 'new';
  text: string;
}

/** With more pairs of lines than this, the differing parts are shown as a whole. */
const MAX_PAIRS = 4_000_000;

/** Compares two texts by the longest common subsequence of their lines. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (lines: readonly string[]): DiffLine[] =>
    lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(before.slice(0, start)),
    ...middleDiff(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function middleDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  const old = (text: string): DiffLine => ({ kind: 'old', text });
  const added = (text: string): DiffLine => ({ kind: 'new', text });
  if (before.length * after.length > MAX_PAIRS) return [...before.map(old), ...after.map(added)];
  const width = after.length + 1;
  // At [i, j]: the number of common lines of the rests from i and from j on.
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [left, right] = [before[i], after[j]];
    if (left !== undefined && left === right) {
      lines.push({ kind: 'same', text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(old(left));
      i += 1;
    } else if (right !== undefined) {
      lines.push(added(right));
      j += 1;
    }
  }
  return lines;
}

/** Arguments as lines. Texts with several lines are shown as they are, everything else as JSON. */
export function argumentLines(args: unknown): string[] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return (JSON.stringify(args, null, 2) ?? '').split('\n');
  }
  return Object.entries(args).flatMap(([name, value]) =>
    typeof value === 'string' && value.includes('\n')
      ? [`${name}:`, ...value.split('\n').map((line) => `  ${line}`)]
      : `${name}: ${JSON.stringify(value, null, 2)}`.split('\n'),
  );
}
