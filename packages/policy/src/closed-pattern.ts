/** One position of a pattern: which characters it allows, and how many of them. */
interface Atom {
  readonly characters: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
}

/** A pattern whose matches have a known maximum of information. */
export interface ClosedPattern {
  /** The most characters that a match can have. */
  readonly maxLength: number;
  /** The most bits that a match can carry. */
  readonly bits: number;
  matches(text: string): boolean;
}

/**
 * The characters of an identifier. There is no space, so that no match can contain two separate
 * words.
 */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ALL = `${LETTERS}${DIGITS}._-`;
const CLASSES: Readonly<Record<string, string>> = {
  d: DIGITS,
  w: `${LETTERS}${DIGITS}_`,
  '.': '.',
  '-': '-',
  _: '_',
};
const MAX_ATOMS = 32;
const QUANTIFIER = /^(?:\{(\d{1,2})(?:,(\d{0,2}))?\}|([?+*]))/;

/**
 * Compiles a pattern of identifiers: `^`, then characters of `[A-Za-z0-9._-]` or classes of them,
 * each with `{n}`, `{n,m}`, `?`, `+` or `*`, then `$`. No groups, no `|`, no `.` for any character.
 *
 * @param maxLength characters at most
 * @returns `undefined` for any other pattern
 */
export function compileClosedPattern(
  pattern: string,
  maxLength: number,
): ClosedPattern | undefined {
  const atoms = atomsOf(pattern, maxLength);
  if (atoms === undefined) return undefined;
  const longest = Math.min(
    maxLength,
    atoms.reduce((sum, { max }) => sum + max, 0),
  );
  const widest = Math.max(1, ...atoms.map(({ characters }) => characters.size));
  return {
    maxLength: longest,
    // One bit more for the end of the text, which may come at any position.
    bits: longest * Math.log2(widest + 1) + 1,
    matches: (text) => text.length <= longest && matches(atoms, text),
  };
}

function atomsOf(pattern: string, maxLength: number): Atom[] | undefined {
  if (!pattern.startsWith('^') || !pattern.endsWith('$') || pattern.length > 200) return undefined;
  let rest = pattern.slice(1, -1);
  const atoms: Atom[] = [];
  while (rest !== '') {
    const place = placeOf(rest);
    if (place === undefined || atoms.length >= MAX_ATOMS) return undefined;
    rest = rest.slice(place.length);
    const [quantifier = '', low, high, sign] = QUANTIFIER.exec(rest) ?? [];
    rest = rest.slice(quantifier.length);
    // A malformed quantifier stays in `rest`. The next round refuses it, since its characters are
    // not those of an identifier.
    const min = low !== undefined ? Number(low) : sign === '?' || sign === '*' ? 0 : 1;
    const max =
      sign === '?' ? 1 : sign !== undefined || high === '' ? maxLength : Number(high ?? low ?? 1);
    if (min > max) return undefined;
    atoms.push({ characters: new Set(place.characters), min, max });
  }
  return atoms;
}

/** The characters that the start of a pattern stands for, and the length of that start. */
function placeOf(rest: string): { characters: string; length: number } | undefined {
  const [first = '', second = ''] = rest;
  if (first === '\\') {
    const characters = Object.hasOwn(CLASSES, second) ? CLASSES[second] : undefined;
    return characters === undefined ? undefined : { characters, length: 2 };
  }
  // A bare dot would match any character.
  if (first !== '[')
    return first !== '.' && ALL.includes(first) ? { characters: first, length: 1 } : undefined;
  const end = rest.indexOf(']');
  if (end < 2) return undefined;
  const characters = classOf(rest.slice(1, end));
  return characters === undefined ? undefined : { characters, length: end + 1 };
}

function classOf(text: string): string | undefined {
  let characters = '';
  for (let at = 0; at < text.length; ) {
    const escaped = text[at] === '\\' ? text[at + 1] : undefined;
    const from = escaped ?? text[at] ?? '';
    const next = at + (escaped === undefined ? 1 : 2);
    const to = text[next] === '-' && escaped === undefined ? text[next + 1] : undefined;
    if (escaped !== undefined) {
      if (!Object.hasOwn(CLASSES, escaped)) return undefined;
      characters += CLASSES[escaped];
      at = next;
    } else if (to !== undefined) {
      const range = rangeOf(from, to);
      if (range === undefined) return undefined;
      characters += range;
      at = next + 2;
    } else {
      if (from === '' || !ALL.includes(from)) return undefined;
      characters += from;
      at = next;
    }
  }
  return characters;
}

/** The characters of `a-z`, `A-F` or `0-9`. Both ends must be of one kind. */
function rangeOf(from: string, to: string): string | undefined {
  const kinds = [LETTERS.slice(0, 26), LETTERS.slice(26), DIGITS];
  const kind = kinds.find((letters) => letters.includes(from) && letters.includes(to));
  if (kind === undefined || from.length !== 1 || to.length !== 1) return undefined;
  const begin = kind.indexOf(from);
  const end = kind.indexOf(to);
  return begin > end ? undefined : kind.slice(begin, end + 1);
}

/** Goes through the positions one by one, without backtracking, so that no pattern takes long. */
function matches(atoms: readonly Atom[], text: string): boolean {
  let ends = new Set([0]);
  for (const { characters, min, max } of atoms) {
    const next = new Set<number>();
    for (const begin of ends) {
      let at = begin;
      for (let count = 0; ; count++, at++) {
        if (count >= min) next.add(at);
        if (count >= max || at >= text.length || !characters.has(text[at] ?? '')) break;
      }
    }
    ends = next;
  }
  return ends.has(text.length);
}
