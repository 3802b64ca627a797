import { z } from 'zod';

// The highest settings. A list at these limits still fits into one value of the store.
export const MAX_ITEMS = 500;
export const MAX_TEXT_CHARS = 1_000;
export const MAX_NOTE_CHARS = 2_000;

const max_items = z
  .int()
  .min(1)
  .max(MAX_ITEMS)
  .default(200)
  .describe('Items that the list may have.');
const max_text_chars = z
  .int()
  .min(1)
  .max(MAX_TEXT_CHARS)
  .default(500)
  .describe('Characters that the text of an item may have.');
const max_note_chars = z
  .int()
  .min(0)
  .max(MAX_NOTE_CHARS)
  .default(1_000)
  .describe('Characters that the note of an item may have.');

const max_shown = z
  .int()
  .min(1)
  .max(MAX_ITEMS)
  .default(50)
  .describe('Items that one call of todo_list shows, whatever it asks for.');

/** The settings of all todo tools. An operator sets them under `tool_settings.todo`. */
export const todoSettings = z.strictObject({
  max_items,
  max_text_chars,
  max_note_chars,
  max_shown,
});

export const SETTINGS_KEY = 'todo';
