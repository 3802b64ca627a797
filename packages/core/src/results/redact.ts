import type { ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';
import { failure } from './check-shape.js';
import {
  type Depth,
  type FoundSecret,
  findSecrets,
  MAX_DEEP_CHARS,
  type Needle,
  needleOf,
} from './find-secrets.js';
import { trimResult, trimText } from './trim.js';

/** Encoded secrets that have room in what is looked through beyond the budget. */
const FORMS_BEYOND = 4;

/**
 * Replaces secrets by `[secret:<ref>]`: as they are, and in base64, hex, percent-encoding, escapes
 * and layers of these; see `findSecrets`.
 */
export class SecretRedactor {
  readonly #needles: Needle[] = [];
  #replaced = 0;

  /** @param known whose secrets are also its own, as they are now */
  constructor(...known: SecretRedactor[]) {
    for (const other of known) this.#addAll(other.#needles);
  }

  add(ref: string, value: string): void {
    if (value === '' || this.#needles.some((needle) => needle.value === value)) return;
    // Files and consoles add a line break that whoever uses the secret takes off.
    if (value.trim() !== value) this.add(ref, value.trim());
    this.#addAll([needleOf(ref, value)]);
  }

  #addAll(needles: readonly Needle[]): void {
    this.#needles.push(...needles);
    // Longest first, so that a secret goes whole and not only another that is a part of it.
    this.#needles.sort((a, b) => b.value.length - a.value.length);
  }

  /** How many secrets it has replaced so far. */
  get replaced(): number {
    return this.#replaced;
  }

  redact(text: string, depth?: Depth): string {
    return this.#marked(text, this.find(text, depth));
  }

  #marked(text: string, found: readonly FoundSecret[]): string {
    this.#replaced += found.length;
    return withMarks(text, found);
  }

  /**
   * Redacts a text and cuts it at a budget. What is cut off anyway is not looked through, except for
   * so much that no secret which lies across the cut is missed.
   */
  redactToBudget(text: string, budgetChars: number): string {
    const beyond = FORMS_BEYOND * this.longestForm;
    // Marks may be shorter than what they stand for: then more of the text comes within the budget.
    const place = budgetChars + beyond;
    if (text.length <= place + beyond) return trimText(this.redact(text), budgetChars);
    const looked = text.slice(0, place + beyond);
    const found = this.find(looked).filter(({ start }) => start < place);
    const end = Math.max(place, found.at(-1)?.end ?? 0);
    return trimText(this.#marked(looked.slice(0, end), found), budgetChars, text.length);
  }

  /** Where the secrets are, in order and without overlaps. */
  find(text: string, depth?: Depth): FoundSecret[] {
    return findSecrets(text, this.#needles, depth);
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

/**
 * Replaces the secrets of the call wherever they stand in its result, and cuts its text at the
 * budget.
 */
export function redactResult(
  result: ToolResult,
  redactor: SecretRedactor,
  budgetChars = Number.POSITIVE_INFINITY,
): ToolResult {
  if (!result.ok) return { ...result, error: redactor.redactToBudget(result.error, budgetChars) };
  const value = redactor.redactToBudget(result.value, budgetChars);
  const redacted: ToolResult = { ...result, value };
  if (result.structured !== undefined) {
    const depth = { left: MAX_DEEP_CHARS };
    const copy = copyPlain(result.structured, (text) => redactor.redact(text, depth));
    if (!copy.ok) return trimResult(failure(`structured${copy.problem}`), budgetChars);
    redacted.structured = { ...Object(copy.value) };
  }
  return redacted;
}
