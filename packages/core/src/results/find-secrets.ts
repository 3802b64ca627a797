import { INVISIBLE_CLASS, once } from '@ethosagent/policy';
import {
  type Decoded,
  decodedWords,
  replaced,
  SHORTEST_ENCODED_BYTES,
  unescaped,
  utf8,
} from './encodings.js';

export interface Needle {
  readonly ref: string;
  readonly value: string;
  /** Its UTF-8, one character per byte. */
  readonly bytes: string;
  /**
   * The forms in which it may stand unencoded: text, UTF-8, and UTF-16 if it has characters beyond
   * ASCII.
   */
  readonly forms: readonly string[];
  /** The bytes of the shortest form that base64 and hex can encode. */
  readonly shortestBytes: number;
  /** Whether it has only characters that encodings write. Most texts are then ruled out at once. */
  readonly isAllWritten: boolean;
}

/** The place of a secret in a text. */
export interface FoundSecret {
  readonly ref: string;
  readonly start: number;
  /** The index after its last character. */
  readonly end: number;
}

interface Hit {
  needle: Needle;
  start: number;
  end: number;
}

/** How many layers of encoding are decoded. */
const MAX_LAYERS = 3;
/** How many characters of a result are searched below the first layer. Later ones are not. */
export const MAX_DEEP_CHARS = 131_072;
/**
 * How many characters are still searched below the first layer. All texts that share it use it up
 * together.
 */
export interface Depth {
  left: number;
}

const BEYOND_ASCII = /[^\0-\x7f]+/g;

const ASCII_LINE = /^[ -~]*$/;

export function needleOf(ref: string, value: string): Needle {
  // Nearly all secrets are such a line, and each call that takes one makes its needle.
  if (ASCII_LINE.test(value)) {
    const shortestBytes = value.length;
    return { ref, value, bytes: value, forms: [value], shortestBytes, isAllWritten: true };
  }
  const bytes = utf8(value);
  const lines = value.replaceAll('\r\n', '\n');
  // Programs change the ends of lines of what they print.
  const forms = new Set([value, bytes, lines, lines.replaceAll('\n', '\r\n')]);
  let shortestBytes = bytes.length;
  // UTF-16 of ASCII is found by removing the NULs.
  if (bytes !== value) {
    const utf16 = Buffer.from(value, 'utf16le');
    forms.add(utf16.toString('latin1')).add(utf16.swap16().toString('latin1'));
    shortestBytes = Math.min(shortestBytes, utf16.length);
  }
  let index = 0;
  while (index < value.length && isWritten(value, index)) index += 1;
  const isAllWritten = index === value.length;
  return { ref, value, bytes, forms: [...forms], shortestBytes, isAllWritten };
}

/**
 * Finds secrets in a text, or in bytes with one character per byte. It finds them unencoded, and
 * below up to three layers of percent-encoding, backslash escapes, HTML entities, quoted-printable,
 * base64, base64url (also within a longer word, and broken into lines), hex (also with separators)
 * and UTF-16. It also finds them with escape sequences of terminals and invisible characters between
 * their characters, which are taken out of what models read.
 *
 * It does not find secrets that are cut, reversed, compressed, encrypted, in another case, or in an
 * encoding that is not named here. Below the first layer it finds none once `depth` is used up.
 *
 * @param needles the longest first
 * @param depth how much is searched below the first layer; the search uses it up
 * @returns places in order, without overlaps
 */
export function findSecrets(
  text: string,
  needles: readonly Needle[],
  depth: Depth = { left: MAX_DEEP_CHARS },
): FoundSecret[] {
  if (needles.length === 0) return [];
  const deep = Math.min(text.length, depth.left);
  depth.left -= deep;
  if (deep === text.length) return inOrder(hitsIn(text, needles, MAX_LAYERS));
  const hits = [...hitsIn(text, needles, 1)];
  if (deep > 0) hits.push(...hitsIn(text.slice(0, deep), needles, MAX_LAYERS));
  return inOrder(hits);
}

/** Fewer characters say little of a secret, and stand at the end of many texts. */
const FEWEST_BEGUN = 4;

/**
 * Returns how many characters at the end of a text may be the start of a secret. Knows the secret
 * unencoded.
 */
export function begunAtEnd(text: string, { forms }: Needle): number {
  let begun = 0;
  for (const form of forms) {
    const head = form.slice(0, FEWEST_BEGUN);
    const from = Math.max(0, text.length - form.length + 1);
    let at = text.indexOf(head, from);
    while (at !== -1 && !form.startsWith(text.slice(at))) at = text.indexOf(head, at + 1);
    if (at !== -1) begun = Math.max(begun, text.length - at);
  }
  return begun;
}

function* hitsIn(text: string, needles: readonly Needle[], layers: number): Generator<Hit> {
  yield* search(text, needles, { layers });
  const isBytesAlone = needles.every(({ value, bytes }) => value === bytes);
  const asBytes = isBytesAlone ? undefined : replaced(text, BEYOND_ASCII, utf8);
  if (asBytes) yield* below(asBytes, needles, { layers });
}

function inOrder(all: Iterable<Hit>): FoundSecret[] {
  const hits = [...all];
  hits.sort((a, b) => a.start - b.start);
  const found: Hit[] = [];
  for (const hit of hits) {
    const last = found.at(-1);
    if (last === undefined || hit.start >= last.end) {
      found.push({ ...hit });
      continue;
    }
    last.end = Math.max(last.end, hit.end);
    if (hit.needle.value.length > last.needle.value.length) last.needle = hit.needle;
  }
  return found.map(({ needle, start, end }) => ({ ref: needle.ref, start, end }));
}

/** How many layers of encoding are still decoded. */
interface Layers {
  layers: number;
  /** What the same text was already decoded to, by the number of layers left. */
  seen?: ReadonlyArray<Set<string>>;
}

function noneSeen(layers: number): ReadonlyArray<Set<string>> {
  return Array.from({ length: layers }, () => new Set<string>());
}

function* search(
  text: string,
  needles: readonly Needle[],
  { layers, seen: before }: Layers,
): Generator<Hit> {
  for (const needle of needles) {
    for (const form of needle.forms) yield* occurrences(text, needle, form);
  }
  if (layers === 0 || !mayHoldEncoded(text, needles)) return;
  const seen = before ?? noneSeen(layers);
  for (const decoded of unescaped(text)) {
    // Two kinds of escapes give the same text, whichever is decoded first.
    const known = seen[layers - 1];
    if (known?.has(decoded.text)) continue;
    known?.add(decoded.text);
    yield* below(decoded, needles, { layers: layers - 1, seen });
  }
  const longEnough = needles.filter(({ shortestBytes }) => shortestBytes >= SHORTEST_ENCODED_BYTES);
  if (longEnough.length === 0) return;
  const shortest = Math.min(...longEnough.map(({ shortestBytes }) => shortestBytes));
  for (const decoded of decodedWords(text, shortest))
    yield* below(decoded, longEnough, { layers: layers - 1 });
}

/**
 * Whether a text may hold an encoded secret. An encoded secret is at least as long as the secret,
 * and is made of what encodings write and what the secret has itself. Most of what is decoded by
 * chance is neither.
 */
function mayHoldEncoded(text: string, needles: readonly Needle[]): boolean {
  let shortest = Number.POSITIVE_INFINITY;
  for (const { value, isAllWritten } of needles) {
    if (!isAllWritten) return true;
    shortest = Math.min(shortest, value.length);
  }
  let run = 0;
  for (let index = 0; index < text.length; index++) {
    run = isWritten(text, index) ? run + 1 : 0;
    if (run >= shortest) return true;
  }
  return false;
}

const WRITTEN = once(() => new RegExp(`[\\s${INVISIBLE_CLASS}]`, 'u'));

/**
 * Whether an encoding may write this character: ASCII, controls, any space between groups, and what
 * nobody sees. Of what nobody sees, tags are pairs of surrogates.
 */
function isWritten(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code <= 0xa0 || (code >= 0xd800 && code <= 0xdfff)) return true;
  return WRITTEN().test(text.charAt(index));
}

function* below(decoded: Decoded, needles: readonly Needle[], layers: Layers): Generator<Hit> {
  for (const { needle, start, end } of search(decoded.text, needles, layers)) {
    const [first, after] = decoded.source(start, end);
    yield { needle, start: first, end: after };
  }
}

function* occurrences(text: string, needle: Needle, form: string): Generator<Hit> {
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
    yield { needle, start: at, end: at + form.length };
  }
}
