import type { Page } from 'playwright-core';
import type { Deadline } from './deadline.js';

/** The fields whose content is hidden. */
export const SECRET_FIELDS = 'input[type=password]';

const HIDDEN = '(hidden)';
const MAX_FRAMES = 50;
const MAX_FIELDS = 20;
/** A shorter one stands in other words by chance, and is hidden only where nothing else is. */
const MIN_CHARS = 4;
const READ_MS = 1_000;

/**
 * Takes what is in the password fields of a page out of other texts: a field may have any role, and
 * the name of another element may be made of it.
 */
export async function hiding(page: Page, deadline: Deadline): Promise<(text: string) => string> {
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
  return hidingValues(read.flat());
}

/** Takes these values out of texts, also with their spaces as a name has them. */
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
