import { takenOutPattern } from '@ethosagent/policy';

/** A text that was decoded from another one, with the original place of each character. */
export interface Decoded {
  readonly text: string;
  /** The place in the original of the characters from `start` to `end`. */
  source(start: number, end: number): Place;
}

/** The index of the first character, and the index after the last one. */
export type Place = readonly [start: number, end: number];

/**
 * The fewest bytes of a secret that are looked for in base64 and hex: fewer bytes match by chance.
 */
export const SHORTEST_ENCODED_BYTES = 4;

const PERCENT = /%(?:([0-9a-f]{2})|u(d[89ab][0-9a-f]{2})%u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4}))/gi;
const FORM = new RegExp(`${PERCENT.source}|\\+`, 'gi');
// Case matters: `\u` takes four digits, `\U` takes eight.
const BACKSLASH =
  /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|U([\da-fA-F]{8})|[xX]([\da-fA-F]{2})|([0-3][0-7]{2}|[4-7][0-7])|([^ux]))/gs;
const QUOTED_PRINTABLE = /=(?:([0-9A-F]{2})|\r?\n)/g;
const NULS = /\0+/g;
const PLAIN = /^[\t\n\r -~]*$/;

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  ast: '*',
  bsol: '\\',
  colon: ':',
  comma: ',',
  commat: '@',
  dollar: '$',
  equals: '=',
  excl: '!',
  grave: '`',
  gt: '>',
  hat: '^',
  lbrace: '{',
  lbrack: '[',
  lcub: '{',
  lowbar: '_',
  lpar: '(',
  lsqb: '[',
  lt: '<',
  newline: '\n',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quest: '?',
  quot: '"',
  rbrace: '}',
  rbrack: ']',
  rcub: '}',
  rpar: ')',
  rsqb: ']',
  semi: ';',
  sol: '/',
  tab: '\t',
  verbar: '|',
  vert: '|',
};
// Numbers, and the five names that XML has, are decoded without a semicolon too.
const ENTITY = new RegExp(
  `&(?:(?:#x0*([0-9a-f]{1,6})|#0*(\\d{1,7})|(quot|amp|lt|gt|apos));?|(${Object.keys(ENTITIES).join('|')});)`,
  'gi',
);

/**
 * Decodes one layer of escapes: percent-encoding (also of forms, and `%uXXXX`), backslashes as in
 * JSON and most languages (also in octal), HTML entities, quoted-printable, UTF-16 of ASCII, and what
 * cleaning takes out of a text that a model reads.
 * Characters beyond ASCII come out as the bytes of their UTF-8, one character per byte.
 */
export function* unescaped(text: string): Generator<Decoded> {
  if (text.includes('%')) yield* some(replaced(text, PERCENT, percent));
  if (text.includes('+')) yield* some(replaced(text, FORM, form));
  if (text.includes('\\')) yield* some(replaced(text, BACKSLASH, backslash));
  if (text.includes('&')) yield* some(replaced(text, ENTITY, entity));
  if (text.includes('=')) {
    const decode = (_: string, byte: string | undefined) => (byte ? fromHex(byte) : '');
    yield* some(replaced(text, QUOTED_PRINTABLE, decode));
  }
  if (text.includes('\0')) yield* some(replaced(text, NULS, () => ''));
  if (!PLAIN.test(text)) yield* some(replaced(text, takenOutPattern(), () => ''));
}

function* some<T>(one: T | undefined): Generator<T> {
  if (one !== undefined) yield one;
}

function percent(_: string, ...groups: Array<string | undefined>): string {
  const [byte, high, low, unit] = groups;
  if (byte !== undefined) return fromHex(byte);
  if (unit !== undefined) return fromCodePoint(Number.parseInt(unit, 16));
  return fromPair(high, low);
}

function form(whole: string, ...groups: Array<string | undefined>): string {
  return whole === '+' ? ' ' : percent(whole, ...groups);
}

function backslash(_: string, ...groups: Array<string | undefined>): string {
  const [high, low, unit, point, long, byte, octal, other] = groups;
  if (high && low) return fromPair(high, low);
  const code = unit ?? point ?? long;
  if (code !== undefined) return fromCodePoint(Number.parseInt(code, 16));
  if (byte !== undefined) return fromHex(byte);
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  return SHORT_ESCAPES[other ?? ''] ?? other ?? '';
}

function entity(whole: string, ...groups: Array<string | undefined>): string {
  const [hex, decimal, short, long] = groups;
  const name = short ?? long;
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  return fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
}

function fromHex(byte: string | undefined): string {
  return String.fromCharCode(Number.parseInt(byte ?? '', 16));
}

function fromPair(high = '', low = ''): string {
  return utf8(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
}

function fromCodePoint(code: number): string {
  return code <= 0x10ffff ? utf8(String.fromCodePoint(code)) : '';
}

/** The bytes of the text's UTF-8, one character per byte. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** As `text.replace`, and keeps the original places. `undefined` if there is nothing to replace. */
export function replaced(
  text: string,
  pattern: RegExp,
  decode: (...match: string[]) => string,
): Decoded | undefined {
  let isChanged = false;
  const result = text.replace(pattern, (...match: string[]) => {
    isChanged = true;
    return decode(...match);
  });
  if (!isChanged) return undefined;
  let made: readonly Step[] | undefined;
  return {
    text: result,
    source: (start, end) => {
      // Few texts hold a secret, and the original places are only needed for those.
      made ??= stepsOf(text, pattern, decode);
      const steps = made;
      /** The original place of a character: the start of the piece that it replaced. */
      const origin = (index: number): number => {
        const step = steps[lastAtMost(steps, index)];
        return step === undefined ? index : step[1] + index - step[0];
      };
      const inside = steps[lastAtMost(steps, start) + 1];
      const first = inside && inside[2] <= start && start < inside[0] ? inside[3] : origin(start);
      const last = steps[lastAtMost(steps, end - 1) + 1];
      const after = last && last[2] < end && end <= last[0] ? last[1] : origin(end - 1) + 1;
      return [first, after];
    },
  };
}

/** A replacement: its end in the result, its end in the text, and its starts. */
type Step = readonly [to: number, from: number, toStart: number, fromStart: number];

function stepsOf(text: string, pattern: RegExp, decode: (...match: string[]) => string): Step[] {
  const steps: Step[] = [];
  let to = 0;
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const start = to + match.index - from;
    to = start + decode(...match).length;
    from = match.index + match[0].length;
    steps.push([to, from, start, match.index]);
  }
  return steps;
}

/** The index of the last step that ends at or before a place in the result; -1 if there is none. */
function lastAtMost(steps: readonly Step[], at: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.[0] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A pattern takes memory for each character of a word, and fails in words of some millions. */
const PIECE_CHARS = 1_048_576;
/** More than the longest secrets take in an encoding. */
const OVERLAP_CHARS = 131_072;

/**
 * Decodes the words of a text that are long enough to hold so many bytes in base64, base64url (also
 * broken into lines, and indented) or hex (also with separators). Each word is decoded at every
 * offset. Words are cut where the text is longer than a piece.
 */
export function* decodedWords(text: string, shortestBytes: number): Generator<Decoded> {
  for (
    let at = 0;
    at === 0 || at + OVERLAP_CHARS < text.length;
    at += PIECE_CHARS - OVERLAP_CHARS
  ) {
    const piece = text.slice(at, at + PIECE_CHARS);
    for (const { text: decoded, source } of wordsIn(piece, shortestBytes)) {
      yield {
        text: decoded,
        source(start, end) {
          const [first, after] = source(start, end);
          return [at + first, at + after];
        },
      };
    }
  }
}

function* wordsIn(text: string, shortestBytes: number): Generator<Decoded> {
  const bytes = Math.max(shortestBytes, SHORTEST_ENCODED_BYTES);
  // Counts only the characters that depend on the secret alone. Those at its start and end may also
  // encode neighbouring bytes.
  const chars = Math.ceil((bytes * 4) / 3);
  if (text.length < chars) return;
  for (const word of wordsOf(text, base64Words(chars), /\\[rn]|[^\w+/-]/g)) {
    for (let offset = 0; offset < 4; offset++) {
      const decoded = Buffer.from(word.text.slice(offset), 'base64').toString('latin1');
      yield {
        text: decoded,
        source: (start, end) => {
          const from = offset + Math.floor((start * 4) / 3);
          const to = Math.min(offset + Math.ceil((end * 4) / 3), word.text.length);
          const [first, after] = word.source(from, to);
          return [first, to === word.text.length ? afterPadding(text, after) : after];
        },
      };
    }
  }
  for (const word of wordsOf(text, hexWords(bytes), /[^0-9a-f]|0(?=x)/gi)) {
    for (const offset of [0, 1]) {
      yield {
        text: Buffer.from(word.text.slice(offset), 'hex').toString('latin1'),
        source: (start, end) => word.source(offset + start * 2, offset + end * 2),
      };
    }
  }
}

/** The words of a text, without the separators between their pieces. */
function* wordsOf(
  text: string,
  patterns: readonly RegExp[],
  separators: RegExp,
): Generator<Decoded> {
  for (const pattern of patterns) {
    for (const { 0: word, index } of text.matchAll(pattern)) {
      const joined = replaced(word, separators, () => '');
      yield {
        text: joined?.text ?? word,
        source: (start, end) => {
          const [first, after] = joined?.source(start, end) ?? [start, end];
          return [index + first, index + after];
        },
      };
    }
  }
}

const MIN_LINE = 16;
const kept = new Map<string, readonly RegExp[]>();

function keep(key: string, make: () => readonly RegExp[]): readonly RegExp[] {
  const known = kept.get(key);
  if (known) return known;
  const made = make();
  if (kept.size > 1_000) kept.clear();
  kept.set(key, made);
  return made;
}

// The patterns match only at the start of a word, so that each word is read once.
function base64Words(chars: number): readonly RegExp[] {
  return keep(`base64 ${chars}`, () => [
    new RegExp(`(?<![\\w+/-])[\\w+/-]{${chars},}`, 'g'),
    new RegExp(
      `(?<![\\w+/-])(?:[\\w+/-]{${MIN_LINE},}(?:\\r?\\n|(?:\\\\r)?\\\\n)[ \\t]{0,32})+[\\w+/-]+`,
      'g',
    ),
  ]);
}

function hexWords(bytes: number): readonly RegExp[] {
  return keep(`hex ${bytes}`, () => [
    new RegExp(
      `(?<![0-9a-f])(?:[0-9a-f]{${MIN_LINE},}(?:\\r?\\n|(?:\\\\r)?\\\\n)[ \\t]{0,32})+[0-9a-f]+`,
      'gi',
    ),
    new RegExp(`(?<![0-9a-f])[0-9a-f]{${bytes * 2},}`, 'gi'),
    new RegExp(
      `(?<![0-9a-f])[0-9a-f]{2,8}(?:(?:[:-]|[,:]?\\s{1,2}|,?\\s?0x)[0-9a-f]{2,8}){${Math.max(1, Math.ceil(bytes / 4) - 1)},}`,
      'gi',
    ),
  ]);
}

function afterPadding(text: string, end: number): number {
  return end + (/^(?:=|%3d){0,2}/i.exec(text.slice(end, end + 6))?.[0].length ?? 0);
}
