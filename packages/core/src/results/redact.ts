import type { ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';
import { failure } from './check-shape.js';
import {
  begunAtEnd,
  type Depth,
  type FoundSecret,
  findSecrets,
  MAX_DEEP_CHARS,
  type Needle,
  needleOf,
} from './find-secrets.js';
import { trimResult, trimText } from './trim.js';
import { urlForms } from './url-forms.js';

/** How many encoded secrets fit into the text that is searched beyond the budget. */
const FORMS_BEYOND = 4;

/**
 * Replaces secrets by `[secret:<ref>]`. Finds them unencoded, and in base64, hex, percent-encoding,
 * escapes and layers of these; see `findSecrets`.
 */
export class SecretRedactor {
  readonly #needles: Needle[] = [];
  #replaced = 0;

  /** @param known redactors whose present secrets are redacted here as well */
  constructor(...known: SecretRedactor[]) {
    for (const other of known) this.#addAll(other.#needles);
  }

  add(ref: string, value: string): void {
    if (value === '' || this.#knows(value)) return;
    this.#addAll([needleOf(ref, value)]);
    // Files and consoles add a line break, and users of the secret remove it.
    const line = value.trim();
    for (const form of [line, ...urlForms(line)]) this.add(ref, form);
  }

  #knows(value: string): boolean {
    return this.#needles.some((needle) => needle.value === value);
  }

  #addAll(needles: readonly Needle[]): void {
    this.#needles.push(...needles.filter(({ value }) => !this.#knows(value)));
    // The longest come first, so that a secret is replaced whole, and not only a part of it that is
    // a secret too.
    this.#needles.sort((a, b) => b.value.length - a.value.length);
  }

  /** How many secrets have been replaced so far. */
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
   * Redacts a text and cuts it at a budget. The part that is cut off is searched only as far as a
   * secret could reach into it across the cut.
   */
  redactToBudget(text: string, budgetChars: number): string {
    const beyond = FORMS_BEYOND * this.longestForm;
    // A mark may be shorter than its secret. Then more of the text comes within the budget.
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

  /** Where the secrets are, in order and without overlaps, each with its mark. */
  marks(text: string): { start: number; end: number; mark: string }[] {
    return this.find(text).map(({ ref, start, end }) => ({ start, end, mark: markOf(ref) }));
  }

  /** Whether a secret is in the name of a header. Such names are in lower case. */
  isInName(name: string): boolean {
    const isPlain = this.#needles.some(({ value }) => name.includes(value.toLowerCase()));
    return isPlain || this.find(name).length > 0;
  }

  /** How many characters at the end of a text may be the start of a secret, unencoded. */
  begunAtEnd(text: string): number {
    return Math.max(0, ...this.#needles.map((needle) => begunAtEnd(text, needle)));
  }

  /** A number of characters that is larger than nearly every form of a secret. */
  get longestForm(): number {
    return 12 * Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length)) + 64;
  }
}

/** A redactor of the present secrets of both. */
export function joinedRedactors(
  one: SecretRedactor | undefined,
  other: SecretRedactor | undefined,
): SecretRedactor | undefined {
  if (one === undefined || one === other) return other;
  return other === undefined ? one : new SecretRedactor(one, other);
}

function markOf(ref: string): string {
  return `[secret:${ref}]`;
}

/** Replaces what was found in the text by marks. */
export function withMarks(text: string, found: readonly FoundSecret[]): string {
  let marked = '';
  let from = 0;
  for (const { ref, start, end } of found) {
    marked += text.slice(from, start) + markOf(ref);
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

/** Arguments of a call without secrets. What is no plain data is left out. */
export function redactedJson(value: unknown, redactor: SecretRedactor): unknown {
  const copy = copyPlain(value, (text) => redactor.redact(text));
  return copy.ok ? copy.value : undefined;
}
