import type { Page } from 'playwright-core';
import type { Deadline } from './deadline.js';

/** The selector of fields whose content is hidden. */
export const SECRET_FIELDS = 'input[type=password]';

/** The text that replaces a hidden value. */
export const HIDDEN = '(hidden)';
const MAX_SECRETS = 100;
const MAX_FRAMES = 50;
const MAX_FIELDS = 20;
/** A shorter value may be a part of other words, so it is hidden only when it is the whole text. */
const MIN_CHARS = 4;
const READ_MS = 1_000;

/**
 * Reads the values of the password fields of a page. They are removed from all other texts, because
 * a hostile page can copy a password into the name of another element, or give its field another
 * role.
 */
export async function secretValues(page: Page, deadline: Deadline): Promise<string[]> {
  const frames = page.frames().filter((frame) => frame.url() !== '');
  const reads = frames.slice(0, MAX_FRAMES).map(async (frame) => {
    const fields = await frame.locator(SECRET_FIELDS).all();
    const timeout = Math.min(READ_MS, deadline.leftMs());
    const values = fields
      .slice(0, MAX_FIELDS)
      .map((field) => field.inputValue({ timeout }).catch(() => ''));
    return Promise.all(values);
  });
  const read = await deadline.race(Promise.all(reads.map((values) => values.catch(() => []))));
  return read.flat().filter((value) => value !== '');
}

/** Keeps earlier values of password fields, the latest last. Their number is limited. */
export class SeenSecrets {
  readonly #values = new Set<string>();

  get values(): readonly string[] {
    return [...this.#values];
  }

  add(secrets: readonly string[]): void {
    for (const secret of secrets) {
      this.#values.delete(secret);
      this.#values.add(secret);
    }
    for (const oldest of this.#values) {
      if (this.#values.size <= MAX_SECRETS) break;
      this.#values.delete(oldest);
    }
  }
}

/** Returns a function that hides these values in texts, even when their spaces were collapsed. */
export function hidingValues(values: readonly string[]): (text: string) => string {
  const forms = values.flatMap((value) => [value, value.replace(/\s+/g, ' ').trim()]);
  const secrets = [...new Set(forms)].filter((value) => value !== '');
  secrets.sort((a, b) => b.length - a.length);
  return (text) =>
    secrets.reduce((shown, secret) => {
      if (secret.length < MIN_CHARS) return shown.trim() === secret ? HIDDEN : shown;
      return shown.replaceAll(secret, HIDDEN);
    }, text);
}

/**
 * Returns a function that hides these values in URLs, however they are encoded. The origin stays.
 */
export function hidingInUrl(values: readonly string[]): (url: string) => string {
  const hide = hidingValues(values);
  const hasSecret = (text: string) => hide(text) !== text;
  return (url) => {
    const [origin = ''] = /^https?:\/\/[^/?#]*/i.exec(url) ?? [];
    const shown = hide(url.slice(origin.length)).replace(/[^/?&=#;]+/g, (part) =>
      [part, part.replaceAll('+', ' ')].map(decoded).some(hasSecret) ? HIDDEN : part,
    );
    return `${origin}${shown}`;
  };
}

/** Decodes the percent-encoding of a text, as far as it is valid. */
export function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}
