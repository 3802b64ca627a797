/*
 * Before a command runs, a word of it is known only in part. These characters stand for the unknown parts.
 * They are from a private-use area. If a command itself has such a character, it is judged more strictly,
 * never less.
 */

/** Unknown text within one word. */
export const UNKNOWN = '\uE000';
/** Unknown text that may become several words, or none. */
export const SPLIT = '\uE001';
/** The home folder of somebody. */
export const HOME = '\uE002';
/** Names of files that a pattern finds. */
export const GLOB = '\uE003';

/** The value of `PATH`. */
export const SEARCH_PATH = '\uE004';

const NOT_KNOWN = /[\uE000\uE001\uE004]/;
const NOT_KNOWN_ALL = /[\uE000\uE001]/g;
const MARKED = /[\uE000-\uE004]/;

/** Whether a part of the text is known only when it runs. */
export function isUnknown(text: string): boolean {
  return NOT_KNOWN.test(text);
}

/** Whether it may become several words, or none. */
export function maySplit(text: string): boolean {
  return text.includes(SPLIT);
}

/** Whether it is not the very text that the command will get. */
export function isMarked(text: string): boolean {
  return MARKED.test(text);
}

/** As shell text again, with a variable for what is unknown. */
export function toShellText(text: string): string {
  return text
    .replaceAll(NOT_KNOWN_ALL, () => `$${'{UNKNOWN}'}`)
    .replaceAll(SEARCH_PATH, () => `$${'{PATH}'}`)
    .replaceAll(HOME, '~')
    .replaceAll(GLOB, '*');
}
