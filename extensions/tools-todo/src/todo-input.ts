import { z } from 'zod';
import { cleanLine, cleanLines } from './clean-text.js';
import { TODO_STATES } from './todo-list.js';
import { MAX_NOTE_CHARS, MAX_TEXT_CHARS } from './todo-settings.js';

const wellFormed = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .refine((text) => text.isWellFormed(), 'holds half a surrogate pair');

export const id = z.string().max(20);

export const text = wellFormed(MAX_TEXT_CHARS)
  .transform(cleanLine)
  .pipe(z.string().min(1, 'is empty; say what is to be done'));

export const state = z.enum(TODO_STATES);

export const note = wellFormed(MAX_NOTE_CHARS).transform(cleanLines);

export const STATE_HELP = 'At most one item of the list may be in_progress.';

/** The arguments `before` and `after`, of a call or of one of its items. */
export const place = {
  before: id.optional().describe('Id of the item to put it before.'),
  after: id.optional().describe('Id of the item to put it after.'),
};

export function isOnePlace({ before, after }: { before?: unknown; after?: unknown }): boolean {
  return before === undefined || after === undefined;
}

export const TWO_PLACES = 'give before or after, not both';
