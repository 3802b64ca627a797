/** A text with its escapes decoded, and where each of its units began. */
export interface Decoded {
  text: string;
  /** For each unit of `text`, and for its end, the place in the original. */
  places: Uint32Array | undefined;
}

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  sol: '/',
  bsol: '\\',
  nbsp: ' ',
  tab: '\t',
  newline: '\n',
  shy: '\u00AD',
  zwj: '\u200D',
  zwnj: '\u200C',
};

const ESCAPE = new RegExp(
  [
    `&(?:(?<name>${Object.keys(NAMED).join('|')})|#0*(?<decimal>[1-9][0-9]{0,6})|#x0*(?<entity>[1-9a-f][0-9a-f]{0,5}));?`,
    // First, as `\\u0000003C` is not told from `\\U0000003C` here.
    '\\\\u(?<long>000[0-9a-f]{5}|0010[0-9a-f]{4})',
    '\\\\(?<octal>[0-3][0-7]{2}|[4-7][0-7])',
    '\\\\u(?:(?<unicode>[0-9a-f]{4})|\\{0*(?<braced>[1-9a-f][0-9a-f]{0,5})\\})',
    '\\\\x(?<hex>[0-9a-f]{2})',
    '%(?:(?<percent>[0-7][0-9a-f])|u(?<unit>[0-9a-f]{4}))',
  ].join('|'),
  'gi',
);

/** Escapes of escapes that are decoded. */
const LAYERS = 4;

/** Decodes entities, and the escapes of JSON, programs and URLs, also where they are mixed. */
export function decodeEscapes(text: string): Decoded {
  let decoded: Decoded = { text, places: undefined };
  for (let layer = 0; layer < LAYERS; layer++) {
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

function decodeOnce(before: Decoded): Decoded {
  const { text } = before;
  if (text.search(ESCAPE) < 0) return before;
  const parts: string[] = [];
  const places = new Uint32Array(text.length + 1);
  let units = 0;
  let done = 0;
  const placeOf = (index: number) => before.places?.[index] ?? index;
  const copyUpTo = (end: number) => {
    parts.push(text.slice(done, end));
    for (let index = done; index < end; index++) places[units++] = placeOf(index);
  };
  for (const match of text.matchAll(ESCAPE)) {
    const character = characterOf(match.groups ?? {});
    if (character === undefined) continue;
    copyUpTo(match.index);
    parts.push(character);
    for (let unit = 0; unit < character.length; unit++) places[units++] = placeOf(match.index);
    done = match.index + match[0].length;
  }
  if (done === 0) return before;
  copyUpTo(text.length);
  places[units] = placeOf(text.length);
  return { text: parts.join(''), places };
}

function characterOf(groups: Record<string, string | undefined>): string | undefined {
  const { name, decimal, octal, entity, long, unicode, braced, hex, percent, unit } = groups;
  if (name !== undefined) return NAMED[name.toLowerCase()];
  const hexadecimal = entity ?? long ?? unicode ?? braced ?? hex ?? percent ?? unit;
  const code =
    hexadecimal === undefined
      ? Number.parseInt(octal ?? decimal ?? '', octal === undefined ? 10 : 8)
      : Number.parseInt(hexadecimal, 16);
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
}
