import type { ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';
import { failure } from './check-shape.js';

// Encoded forms of shorter secrets would match honest text by chance.
const SHORTEST_ENCODED = 4;
// The compiler of regular expressions recurses; a longer secret is looked for piece by piece.
const LONGEST_PIECE = 256;

/** A secret, and what finds it in a text. */
interface Needle {
  ref: string;
  value: string;
  patterns: readonly RegExp[];
}

/**
 * Replaces secrets by `[secret:<ref>]`: as they are, and as base64 and base64url (also inside a
 * longer encoded text), hex, percent-encoded, form-encoded and JSON-escaped.
 */
export class SecretRedactor {
  readonly #needles: Needle[] = [];

  add(ref: string, value: string): void {
    if (value === '' || this.#needles.some((needle) => needle.value === value)) return;
    // Files and consoles add a line break that whoever uses the secret takes off.
    if (value.trim() !== value) this.add(ref, value.trim());
    this.#needles.push({ ref, value, patterns: patternsOf(value) });
    // Longest first, so that a secret goes whole and not only another that is a part of it.
    this.#needles.sort((a, b) => b.value.length - a.value.length);
  }

  redact(text: string): string {
    let redacted = text;
    for (const { ref, patterns } of this.#needles) {
      const mark = `[secret:${ref}]`;
      for (const pattern of patterns) redacted = redacted.replace(pattern, () => mark);
      if (patterns.length > 1) redacted = joinMarks(redacted, mark);
    }
    return redacted;
  }
}

// Call after call resolves the same secret, and its patterns cost more than the rest of the call.
const patternsByValue = new Map<string, readonly RegExp[]>();
const MAX_KEPT_SECRETS = 100;

function patternsOf(value: string): readonly RegExp[] {
  const known = patternsByValue.get(value);
  if (known !== undefined) return known;
  const patterns = piecesOf(value).map((piece) => new RegExp(formsOf(piece), 'g'));
  if (patternsByValue.size >= MAX_KEPT_SECRETS) patternsByValue.clear();
  patternsByValue.set(value, patterns);
  return patterns;
}

function piecesOf(value: string): string[] {
  const characters = Array.from(value);
  const size = Math.ceil(characters.length / Math.ceil(characters.length / LONGEST_PIECE));
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    pieces.push(characters.slice(start, start + size).join(''));
  }
  return pieces;
}

// Between two pieces in base64 a few characters belong to both.
function joinMarks(text: string, mark: string): string {
  const one = escapeRegExp(mark);
  return text.replace(new RegExp(`${one}(?:[\\w+/=%-]{0,9}${one})+`, 'g'), () => mark);
}

/** A pattern for a piece of a secret in every form. */
function formsOf(value: string): string {
  const forms = [textForms(value)];
  if (value.length >= SHORTEST_ENCODED) {
    const bytes = Buffer.from(value);
    for (const text of base64Forms(bytes)) forms.push(text.replaceAll(/[+/=]/g, base64Character));
    const hex = bytes.toString('hex');
    forms.push(eitherCase(hex));
  }
  return forms.join('|');
}

/**
 * The secret as text, each character as it is or escaped: encoders differ in which ones they
 * escape, and a URL that was built by hand holds a mixture.
 */
function textForms(value: string): string {
  return Array.from(value, (character) => {
    const hex = Buffer.from(character).toString('hex');
    // A second round of encoding turns each `%` into `%25`.
    const percent = hex.replaceAll(/../g, (byte) => `%(?:25)?${eitherCase(byte)}`);
    const forms = [escapeRegExp(character), percent, unicodeEscape(character)];
    const short = JSON.stringify(character).slice(1, -1);
    if (short !== character) forms.push(escapeRegExp(short));
    if (character === '/') forms.push('\\\\/');
    if (character === ' ') forms.push('\\+');
    // The longest first: an escape must go whole.
    return `(?:${forms.reverse().join('|')})`;
  }).join('');
}

function unicodeEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) =>
    character.charCodeAt(index).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\\\u${eitherCase(unit)}`).join('');
}

/** The characters that depend on the secret alone, for each of its three places in a base64 text. */
function* base64Forms(bytes: Buffer): Generator<string> {
  yield bytes.toString('base64');
  for (const lead of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64');
    const start = Math.ceil((lead * 8) / 6);
    const end = Math.floor(((lead + bytes.length) * 8) / 6);
    const inner = text.slice(start, end);
    if (inner.length >= SHORTEST_ENCODED) yield inner;
  }
}

/** A character of base64 that base64url writes otherwise, or that a URL escapes. */
function base64Character(character: string): string {
  const percent = `%(?:25)?${eitherCase(Buffer.from(character).toString('hex'))}`;
  if (character === '=') return `(?:=|${percent})?`;
  return character === '+' ? `(?:[+-]|${percent})` : `(?:[/_]|${percent})`;
}

function eitherCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Replaces the secrets of the call wherever they stand in its result. */
export function redactResult(result: ToolResult, redactor: SecretRedactor): ToolResult {
  const redact = (text: string) => redactor.redact(text);
  if (!result.ok) return { ...result, error: redact(result.error) };
  const redacted: ToolResult = { ...result, value: redact(result.value) };
  if (result.structured !== undefined) {
    const copy = copyPlain(result.structured, redact);
    if (!copy.ok) return failure(`structured${copy.problem}`);
    redacted.structured = { ...Object(copy.value) };
  }
  return redacted;
}
