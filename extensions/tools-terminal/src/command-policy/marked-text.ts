/*
 * Before a command runs, a word of it is known only in part. These characters stand for the unknown parts.
 * They are from a private-use area. If a command itself has such a character, it is judged more strictly,
 * never less.
 */

/** Stands for unknown text within one word. */
export const UNKNOWN = '\uE000';
/** Stands for unknown text that may become several words, or none. */
export const SPLIT = '\uE001';
/** Stands for the home folder of somebody. */
export const HOME = '\uE002';
/** Stands for names of files that a pattern finds. */
export const GLOB = '\uE003';

/** Stands for the value of `PATH`. */
export const SEARCH_PATH = '\uE004';

const NOT_KNOWN = /[\uE000\uE001\uE004]/;
const NOT_KNOWN_ALL = /[\uE000\uE001]/g;
const MARKED = /[\uE000-\uE004]/;

/** Whether a part of the text is known only at run time. */
export function isUnknown(text: string): boolean {
  return NOT_KNOWN.test(text);
}

/** Whether the text may become several words, or none. */
export function maySplit(text: string): boolean {
  return text.includes(SPLIT);
}

/** Whether the command will get another text than this. */
export function isMarked(text: string): boolean {
  return MARKED.test(text);
}

/** Turns marked text into shell text, with a variable for each unknown part. */
export function toShellText(text: string): string {
  return text
    .replaceAll(NOT_KNOWN_ALL, () => `$${'{UNKNOWN}'}`)
    .replaceAll(SEARCH_PATH, () => `$${'{PATH}'}`)
    .replaceAll(HOME, '~')
    .replaceAll(GLOB, '*');
}
