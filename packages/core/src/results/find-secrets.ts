import {
  type Decoded,
  decodedWords,
  replaced,
  SHORTEST_ENCODED_BYTES,
  unescaped,
  utf8,
} from './encodings.js';

/** A secret that is looked for. */
export interface Needle {
  readonly ref: string;
  readonly value: string;
  /** Its UTF-8, one character a byte. */
  readonly bytes: string;
}

/** Where a secret stands in a text. */
export interface FoundSecret {
  readonly ref: string;
  readonly start: number;
  /** After its last character. */
  readonly end: number;
}

interface Hit {
  needle: Needle;
  start: number;
  end: number;
}

/** Layers of encoding that are taken off. */
const MAX_LAYERS = 3;
const BEYOND_ASCII = /[^\0-\x7f]+/g;

export function needleOf(ref: string, value: string): Needle {
  return { ref, value, bytes: utf8(value) };
}

/**
 * Finds secrets in a text, or in bytes with one character a byte: as they are, and below up to
 * three layers of percent-encoding, backslash escapes, HTML entities, quoted-printable, base64,
 * base64url (also within a longer word, and broken into lines), hex (also with separators) and
 * UTF-16. Not found are secrets that are cut, reversed, compressed, encrypted, in another case or in
 * an encoding that is not named here.
 *
 * @param needles the longest first
 * @returns places in order, without overlaps
 */
export function findSecrets(text: string, needles: readonly Needle[]): FoundSecret[] {
  const hits = [...search(text, needles, MAX_LAYERS)];
  const isBytesAlone = needles.every(({ value, bytes }) => value === bytes);
  const asBytes = isBytesAlone ? undefined : replaced(text, BEYOND_ASCII, utf8);
  if (asBytes) hits.push(...below(asBytes, needles, MAX_LAYERS));
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

function* search(text: string, needles: readonly Needle[], layers: number): Generator<Hit> {
  for (const needle of needles) {
    yield* occurrences(text, needle, needle.value);
    if (needle.bytes !== needle.value) yield* occurrences(text, needle, needle.bytes);
  }
  if (layers === 0 || !mayHoldEncoded(text, needles)) return;
  for (const decoded of unescaped(text)) yield* below(decoded, needles, layers - 1);
  const longEnough = needles.filter(({ bytes }) => bytes.length >= SHORTEST_ENCODED_BYTES);
  if (longEnough.length === 0) return;
  const shortest = Math.min(...longEnough.map(({ bytes }) => bytes.length));
  for (const decoded of decodedWords(text, shortest)) yield* below(decoded, longEnough, layers - 1);
}

/**
 * Whether a text may hold an encoded secret, which is no shorter than the secret itself, and ASCII
 * but for what the secret has of other characters. What is decoded by chance is noise, and is not.
 */
function mayHoldEncoded(text: string, needles: readonly Needle[]): boolean {
  let shortest = Number.POSITIVE_INFINITY;
  for (const { value, bytes } of needles) {
    if (bytes.length !== value.length) return true;
    shortest = Math.min(shortest, value.length);
  }
  let run = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const isText = (code >= 0x20 && code <= 0x7e) || code === 0 || code === 0x0a || code === 0x0d;
    run = isText ? run + 1 : 0;
    if (run >= shortest) return true;
  }
  return false;
}

function* below(decoded: Decoded, needles: readonly Needle[], layers: number): Generator<Hit> {
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
