import { parseJson } from '@ethosagent/policy';
import { z } from 'zod';
import { cleanLine, cleanLines } from './clean-text.js';
import { EMPTY_LIST, TODO_STATES, type TodoList } from './todo-list.js';

const VERSION = 1;

/** The stored list, or why the stored value is not a list. */
export type StoredList = { ok: true; list: TodoList } | { ok: false; problem: string };

const storedItem = z.strictObject({
  id: z.string().regex(/^t[1-9]\d{0,14}$/),
  // Other tools share the namespace and may have written this value, so it is cleaned again.
  text: z.string().transform(cleanLine).pipe(z.string().min(1)),
  state: z.enum(TODO_STATES),
  note: z.string().transform(cleanLines).optional(),
});

const storedList = z
  .strictObject({
    version: z.literal(VERSION),
    nextId: z.int().min(1),
    items: z.array(storedItem),
  })
  .refine(({ items }) => new Set(items.map(({ id }) => id)).size === items.length, 'an id is twice')
  .refine(
    ({ items, nextId }) => items.every(({ id }) => numberOf(id) < nextId),
    'an id is not yet given out',
  );

const newerList = z.object({ version: z.int().min(VERSION + 1) });

/** Reads the stored value. It never throws: an invalid value is a problem. */
export function parseList(stored: string | null): StoredList {
  if (stored === null) return { ok: true, list: EMPTY_LIST };
  const value = parseJson(stored);
  const parsed = storedList.safeParse(value);
  if (parsed.success) {
    const { nextId, items } = parsed.data;
    return { ok: true, list: { nextId, items: items.map(withoutAbsent) } };
  }
  const what = newerList.safeParse(value).success
    ? 'was written by a newer version'
    : 'is damaged, or something else';
  return {
    ok: false,
    problem: `The stored todo list ${what}. Nothing was changed. todo_clear removes it; then begin anew with todo_set.`,
  };
}

export function formatList({ nextId, items }: TodoList): string {
  return JSON.stringify({ version: VERSION, nextId, items });
}

/** Returns an empty list to replace the stored one. Ids in the stored text are not given again. */
export function emptyAfter(stored: string | null): TodoList {
  const parsed = parseList(stored);
  if (parsed.ok) return { ...parsed.list, items: [] };
  const numbers = [...(stored ?? '').matchAll(/\bt(\d{1,15})\b/g)].map(([, digits]) =>
    Number(digits),
  );
  return { nextId: numbers.reduce((most, number) => Math.max(most, number), 0) + 1, items: [] };
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}

function withoutAbsent({ note, ...item }: z.infer<typeof storedItem>) {
  return note === undefined || note === '' ? item : { ...item, note };
}
