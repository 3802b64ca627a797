const MAX_CHARS = 300;

/**
 * Returns how similar two texts are, from 0 to 1: the share of letter pairs that they have in
 * common.
 */
export function similarity(a: string, b: string): number {
  const left = pairsOf(a);
  const right = pairsOf(b);
  if (left.length === 0 || right.length === 0) return a.toLowerCase() === b.toLowerCase() ? 1 : 0;
  const counts = new Map<string, number>();
  for (const pair of left) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  let common = 0;
  for (const pair of right) {
    const count = counts.get(pair) ?? 0;
    if (count === 0) continue;
    counts.set(pair, count - 1);
    common += 1;
  }
  return (2 * common) / (left.length + right.length);
}

function pairsOf(text: string): string[] {
  const lower = text.slice(0, MAX_CHARS).toLowerCase();
  return Array.from({ length: Math.max(lower.length - 1, 0) }, (_, at) => lower.slice(at, at + 2));
}
