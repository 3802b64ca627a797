/**
 * Gives texts in the order of their UTF-16 code units. It sorts only as far as texts are taken,
 * because a search may find far more than anyone reads.
 *
 * @param likely how many are likely to be taken
 */
export function* smallestFirst(texts: readonly string[], likely: number): Generator<string> {
  const first = smallest(texts, likely);
  yield* first;
  if (first.length === texts.length) return;
  yield* [...texts].sort().slice(first.length);
}

function smallest(texts: readonly string[], count: number): string[] {
  let kept: string[] = [];
  let limit: string | undefined;
  for (const text of texts) {
    if (limit !== undefined && text >= limit) continue;
    kept.push(text);
    if (kept.length < 2 * count) continue;
    kept = kept.sort().slice(0, count);
    limit = kept.at(-1);
  }
  return kept.sort().slice(0, count);
}
