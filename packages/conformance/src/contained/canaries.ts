import type { Promised } from '../promised.js';

/** A value that must not appear anywhere. */
export interface Canary {
  value: string;
  /** A description of the value for the reader, without the value itself. */
  what: string;
  promised: Promised;
  /** Whether the value is random, so that even a part of it can't appear by chance. */
  isRandom: boolean;
}

// Shorter values would match honest texts.
const SHORTEST_NEEDLE = 8;
const PIECE_CHARS = 12;

/**
 * Finds values in texts in many forms: encoded once or twice, escaped, split by other characters,
 * reversed, or only a part. Does not find compressed and encrypted values.
 */
export class CanaryFinder {
  readonly #known = new Map<string, readonly string[]>();

  /** Returns the canaries that a text reveals. */
  find(text: string, canaries: Iterable<Canary>): Canary[] {
    let haystack: string | undefined;
    const found: Canary[] = [];
    for (const canary of canaries) {
      haystack ??= [...viewsOf(text)].map(condense).join('\n');
      const here = haystack;
      if (this.#needlesOf(canary).some((needle) => here.includes(needle))) found.push(canary);
    }
    return found;
  }

  #needlesOf({ value, isRandom }: Canary): readonly string[] {
    const needles = this.#known.get(value) ?? needlesOf(value, isRandom);
    this.#known.set(value, needles);
    return needles;
  }
}

function needlesOf(value: string, isRandom: boolean): string[] {
  const whole = condense(value);
  const needles = [...(isRandom ? piecesOf(whole) : []), ...encodingsOf(value)]
    .map(condense)
    .filter((needle) => needle.length >= SHORTEST_NEEDLE);
  if (whole.length > 0 && whole.length < SHORTEST_NEEDLE) needles.push(whole);
  return needles.flatMap((needle) => [needle, [...needle].reverse().join('')]);
}

/** Yields pieces of a text. Any part that is twice as long as a piece contains a whole piece. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start + PIECE_CHARS <= text.length; start += PIECE_CHARS) {
    yield text.slice(start, start + PIECE_CHARS);
  }
}

function* encodingsOf(value: string): Generator<string> {
  yield value;
  yield rotated(value);
  for (const bytes of [Buffer.from(value), Buffer.from(value, 'utf16le')]) {
    yield bytes.toString('hex');
    yield [...bytes].join('');
    yield* base64Of(bytes);
    yield* base64Of(Buffer.from(bytes.toString('base64')));
    yield* base64Of(Buffer.from(bytes.toString('hex')));
  }
  yield* base64Of(Buffer.from([...value].reverse().join('')));
}

/** Yields the base64 characters that depend only on the bytes, for each of the three offsets. */
function* base64Of(bytes: Buffer): Generator<string> {
  for (const lead of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64');
    yield text.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
  }
}

function rotated(value: string): string {
  return value.replaceAll(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

/** Yields a text unchanged, and with its escapes decoded. */
function* viewsOf(text: string): Generator<string> {
  yield text;
  const unpercented = text.replaceAll(/(?:%(?:25)*[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll(/%(?:25)*(?=[\da-f]{2})/gi, ''), 'hex').toString('utf8'),
  );
  if (unpercented !== text) yield unpercented;
  const unescaped = text.replaceAll(
    /\\+u([\da-f]{4})|\\+x([\da-f]{2})|&#x([\da-f]+);/gi,
    (_, ...codes) => character(codes.slice(0, 3).find((code) => code !== undefined)),
  );
  if (unescaped !== text) yield unescaped;
}

function character(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/**
 * Returns only the letters and digits of a text, in lower case, so that separators, line breaks and
 * escapes don't matter.
 */
function condense(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}
