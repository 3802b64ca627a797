import { createHash } from 'node:crypto';
import { canonicalJson, shorten } from '@ethosagent/policy';
import type { UntrustedSource } from './session-api.js';
import { sourceOf } from './untrusted-gate.js';

/** How many sources are listed one by one. */
const MAX_LISTED = 50;

/**
 * The untrusted content that a session has read: the first sources one by one, and one entry for
 * all others. That entry changes with each further source, so it is never mistaken for a known one.
 */
export class SourceList {
  /** Each source with its number, from 1. */
  readonly #listed = new Map<string, { source: UntrustedSource; number: number }>();
  #others: UntrustedSource | undefined;
  #count = 0;

  /** The oldest first. */
  get all(): UntrustedSource[] {
    return this.#withOthers([...this.#listed.values()]);
  }

  /** How many sources were added. */
  get count(): number {
    return this.#count;
  }

  /**
   * All sources, without those of `left` that were not among the first `count`.
   *
   * @param left sources that are left out
   * @param count how many sources were known: an earlier value of `count`
   * @returns the rest, the oldest first
   */
  without(left: readonly UntrustedSource[], count: number): UntrustedSource[] {
    const keys = new Set(left.map(keyOf));
    return this.#withOthers(
      [...this.#listed].flatMap(([key, listed]) =>
        keys.has(key) && listed.number > count ? [] : [listed],
      ),
    );
  }

  /**
   * Whether `add` would change what is known.
   *
   * @param source to look for
   */
  isNew(source: UntrustedSource): boolean {
    return !this.#listed.has(keyOf(source));
  }

  /**
   * Adds a source. Beyond the limit, sources are counted and hashed instead of listed.
   *
   * @param source that was read
   */
  add(source: UntrustedSource): void {
    if (!this.isNew(source)) return;
    this.#count += 1;
    if (this.#listed.size < MAX_LISTED) {
      this.#listed.set(keyOf(source), { source, number: this.#count });
      return;
    }
    const before = this.#others?.source ?? '';
    this.#others = {
      source: `sha256:${digestOf(`${before} ${keyOf(source)}`)}`,
      tool: `${this.#count - MAX_LISTED} others`,
    };
  }

  #withOthers(listed: readonly { source: UntrustedSource }[]): UntrustedSource[] {
    const named = listed.map(({ source }) => source);
    return this.#others === undefined ? named : [...named, this.#others];
  }
}

const MAX_SOURCE_CHARS = 1_000;

/**
 * Names the source of a call's result, so that different contents have different names. If no
 * argument names a source, the arguments are part of the name.
 *
 * @param name of the tool
 * @param args of the call
 * @returns the source, cut to a length that can be shown
 */
export function sourceOfCall(name: string, args: unknown): UntrustedSource {
  const source = sourceOf(name, args);
  const isNamed = source !== name;
  const given = isNamed || args === undefined || args === null ? '' : canonicalJson(args);
  const full = given === '' || given === '{}' ? source : `${name} ${given}`;
  return { source: full.length <= MAX_SOURCE_CHARS ? full : shortened(full), tool: name };
}

/**
 * Names untrusted content that came without a call, by the hash of the content.
 *
 * @param what kind of content it is, e.g. `a message`
 * @param content anything that JSON can hold
 * @returns the name
 */
export function sourceOfContent(what: string, content: unknown): string {
  return `${what} (sha256:${digestOf(canonicalJson(content))})`;
}

function shortened(text: string): string {
  return shorten(text, MAX_SOURCE_CHARS, `… (sha256:${digestOf(text)})`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export function keyOf({ source, tool }: UntrustedSource): string {
  return canonicalJson([source, tool]);
}
