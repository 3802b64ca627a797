import leven from 'leven';

const MAX_NAME_CHARS = 64;
const MAX_SLIPS = 3;

/**
 * The known name that an unknown one likely means, for "did you mean". Names that
 * differ only in case, `_` and `-` are the nearest; two letters that changed places are one slip.
 *
 * @param name the unknown one
 * @param known the names to choose from
 * @param maxDistance insertions, removals and replacements that a slip may take; when absent, one
 * for each three characters, and 3 at most
 * @returns `undefined` where no name is near, or the name is too long for a slip
 */
export function nearestName(
  name: string,
  known: Iterable<string>,
  maxDistance: number = slipsIn(name),
): string | undefined {
  if (name.length >= MAX_NAME_CHARS) return undefined;
  let nearest: string | undefined;
  let least = maxDistance + 1;
  const plainName = plain(name);
  for (const candidate of known) {
    const isSame = plainName !== '' && plain(candidate) === plainName;
    if (!isSame && Math.abs(candidate.length - name.length) >= least) continue;
    const edits = isSame ? 0 : slipsBetween(name, candidate);
    if (edits >= least) continue;
    nearest = candidate;
    least = edits;
  }
  return nearest;
}

/**
 * How many insertions, removals and replacements of characters make one text of another.
 *
 * @param a a text
 * @param b a text
 * @returns the number; 0 for equal texts
 */
export function editDistance(a: string, b: string): number {
  return leven(a, b);
}

/** Two swapped letters count as one slip. */
function slipsBetween(a: string, b: string): number {
  const edits = leven(a, b);
  return edits === 2 && letters(a) === letters(b) ? 1 : edits;
}

function letters(name: string): string {
  return [...name].sort().join('');
}

function slipsIn(name: string): number {
  return Math.max(1, Math.min(MAX_SLIPS, Math.floor(name.length / 3)));
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}
