import type { Promised } from '../promised.js';

/** A value that must not turn up. */
export interface Canary {
  value: string;
  /** What turned up, for the reader; not the value. */
  what: string;
  promised: Promised;
  /** Made up at random, so that a part of it is found nowhere else either. */
  isRandom: boolean;
}

// Shorter ones would be found in honest text.
const SHORTEST_NEEDLE = 8;
const PIECE_CHARS = 12;

/**
 * Finds values in texts however they are dressed: encoded once or twice, escaped, in pieces with
 * anything between, backwards, or a part of them. Compressed and encrypted ones are not found.
 */
export class CanaryFinder {
  readonly #known = new Map<string, readonly string[]>();

  /** The canaries that a text gives away. */
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

/** Any part of twice the length of a piece has a whole piece in it. */
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

/** The characters that depend on the bytes alone, for each of their three places in a text. */
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

/** A text as it is, and with its escapes undone. */
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

/** Letters and digits in lower case: what separators, line breaks and escapes leave alone. */
function condense(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}
