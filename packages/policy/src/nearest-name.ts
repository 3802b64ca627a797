import { distance } from 'fastest-levenshtein';

const MAX_NAME_CHARS = 64;

/**
 * The known name that was likely meant by one that is not known, for "did you mean".
 *
 * @param maxDistance insertions, removals and replacements that a slip may take
 * @returns `undefined` where no name is near, or the name is too long for a slip
 */
export function nearestName(
  name: string,
  known: Iterable<string>,
  maxDistance: number,
): string | undefined {
  if (name.length >= MAX_NAME_CHARS) return undefined;
  let nearest: string | undefined;
  let least = maxDistance + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const edits = distance(name, candidate);
    if (edits >= least) continue;
    nearest = candidate;
    least = edits;
  }
  return nearest;
}

/** How many insertions, removals and replacements of characters make one text of another. */
export function editDistance(a: string, b: string): number {
  return distance(a, b);
}
