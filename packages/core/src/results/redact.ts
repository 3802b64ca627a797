import type { ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';
import { failure } from './check-shape.js';
import { type FoundSecret, findSecrets, type Needle, needleOf } from './find-secrets.js';

/**
 * Replaces secrets by `[secret:<ref>]`: as they are, and in base64, hex, percent-encoding, escapes
 * and layers of these; see `findSecrets`.
 */
export class SecretRedactor {
  readonly #needles: Needle[] = [];

  add(ref: string, value: string): void {
    if (value === '' || this.#needles.some((needle) => needle.value === value)) return;
    // Files and consoles add a line break that whoever uses the secret takes off.
    if (value.trim() !== value) this.add(ref, value.trim());
    this.#needles.push(needleOf(ref, value));
    // Longest first, so that a secret goes whole and not only another that is a part of it.
    this.#needles.sort((a, b) => b.value.length - a.value.length);
  }

  redact(text: string): string {
    return withMarks(text, this.find(text));
  }

  /** Where the secrets are, in order and without overlaps. */
  find(text: string): FoundSecret[] {
    return findSecrets(text, this.#needles);
  }

  /** Whether a secret is in the name of a header, which comes in lower case. */
  isInName(name: string): boolean {
    const isPlain = this.#needles.some(({ value }) => name.includes(value.toLowerCase()));
    return isPlain || this.find(name).length > 0;
  }

  /** More characters than a secret takes up in nearly every form that is looked for. */
  get longestForm(): number {
    return 12 * Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length)) + 64;
  }
}

/** The text with what was found in it replaced. */
export function withMarks(text: string, found: readonly FoundSecret[]): string {
  let marked = '';
  let from = 0;
  for (const { ref, start, end } of found) {
    marked += `${text.slice(from, start)}[secret:${ref}]`;
    from = end;
  }
  return from === 0 ? text : marked + text.slice(from);
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
