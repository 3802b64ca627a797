import { emptyAfter, parseList } from './stored-list.js';
import { isOpen, type TodoItem, type TodoList, type TodoState } from './todo-list.js';
import type { Edit } from './todo-store.js';

/** How long the texts of an item may be. The operator sets the numbers. */
export interface TextCaps {
  max_text_chars: number;
  max_note_chars: number;
}

/** How large a list and its items may be. */
export interface TodoCaps extends TextCaps {
  max_items: number;
}

/** Where items go: before or after another item. Without either, new items go to the end. */
export interface TodoPlace {
  before?: string | undefined;
  after?: string | undefined;
}

/** An item as a call gives it. It has an id when the item is already in the list. */
export interface TodoDraft {
  id?: string | undefined;
  text?: string | undefined;
  state?: TodoState | undefined;
  note?: string | undefined;
}

/** A change of one item. Absent fields stay as they are. */
export type TodoChange = TodoDraft & TodoPlace & { id: string };

/**
 * Replaces the list with these items. An item with an id keeps the fields that the call leaves out.
 */
export function setItems(list: TodoList, drafts: readonly TodoDraft[], caps: TodoCaps): Edit {
  const draft = new Draft(list);
  const problems = [...tooLong(drafts, caps), ...twice(drafts)];
  const items = drafts.map(({ id, ...fields }, index) => {
    if (id === undefined) return draft.make(fields);
    const known = draft.find(id);
    if (known === undefined) problems.push(`items[${index}].id: ${draft.unknown(id)}`);
    return changed(known ?? { id, text: '', state: 'pending' }, fields);
  });
  draft.items = items;
  return draft.settle(
    [...problems, ...draft.tooMany(caps)],
    items.map(({ id }) => id),
  );
}

/** Adds items, in their order. */
export function addItems(
  list: TodoList,
  { drafts, place }: { drafts: readonly TodoDraft[]; place: TodoPlace },
  caps: TodoCaps,
): Edit {
  const draft = new Draft(list);
  const problems = tooLong(drafts, caps);
  const anchor = place.before ?? place.after;
  if (anchor !== undefined && draft.find(anchor) === undefined) {
    const name = place.before === undefined ? 'after' : 'before';
    return refused([`${name}: ${draft.unknown(anchor)}`]);
  }
  const added = drafts.map((fields) => draft.make(fields));
  draft.insert(added, place);
  return draft.settle(
    [...problems, ...draft.tooMany(caps)],
    added.map(({ id }) => id),
  );
}

/** Makes all changes in their order. When one of them is refused, none is made. */
export function updateItems(list: TodoList, changes: readonly TodoChange[], caps: TextCaps): Edit {
  const draft = new Draft(list);
  const problems = [...tooLong(changes, caps), ...twice(changes)];
  for (const [index, { id, before, after, ...fields }] of changes.entries()) {
    const known = draft.find(id);
    const anchor = before ?? after;
    if (known === undefined) problems.push(`items[${index}].id: ${draft.unknown(id)}`);
    else draft.items = draft.items.map((item) => (item === known ? changed(item, fields) : item));
    if (anchor === undefined) continue;
    const name = `items[${index}].${before === undefined ? 'after' : 'before'}`;
    if (anchor === id) problems.push(`${name}: ${id} can not stand next to itself`);
    else if (draft.find(anchor) === undefined) problems.push(`${name}: ${draft.unknown(anchor)}`);
    else draft.move(id, { before, after });
  }
  // The cap of the list is not checked, because nothing is added. The operator may have lowered it, and the
  // items of a longer list can still be closed.
  return draft.settle(
    problems,
    changes.map(({ id }) => id),
  );
}

/**
 * Removes all items, even when the stored list can't be read. With `keepOpen`, it removes only the
 * closed items.
 */
export function clearItems(stored: string | null, keepOpen: boolean): Edit {
  const parsed = parseList(stored);
  if (!parsed.ok) {
    return keepOpen
      ? { ...parsed, code: 'execution_failed' }
      : { ok: true, list: emptyAfter(stored), touched: [], removed: [] };
  }
  const draft = new Draft(parsed.list);
  draft.items = keepOpen ? parsed.list.items.filter(isOpen) : [];
  return draft.settle([], []);
}

/** Applies `edit` to the stored list. Returns the problem when the stored value is not a list. */
export function editStored(stored: string | null, edit: (list: TodoList) => Edit): Edit {
  const parsed = parseList(stored);
  return parsed.ok ? edit(parsed.list) : { ...parsed, code: 'execution_failed' };
}

class Draft {
  items: readonly TodoItem[];
  readonly #before: readonly TodoItem[];
  #nextId: number;

  constructor({ items, nextId }: TodoList) {
    this.items = items;
    this.#before = items;
    this.#nextId = nextId;
  }

  find(id: string): TodoItem | undefined {
    return this.items.find((item) => item.id === id);
  }

  make(fields: TodoDraft): TodoItem {
    const item = changed({ id: `t${this.#nextId}`, text: '', state: 'pending' }, fields);
    this.#nextId += 1;
    return item;
  }

  insert(added: readonly TodoItem[], { before, after }: TodoPlace): void {
    const anchor = this.items.findIndex(({ id }) => id === (before ?? after));
    const at = before !== undefined ? anchor : after !== undefined ? anchor + 1 : this.items.length;
    this.items = this.items.toSpliced(at, 0, ...added);
  }

  move(moved: string, place: TodoPlace): void {
    const item = this.find(moved);
    if (item === undefined) return;
    this.items = this.items.filter(({ id }) => id !== moved);
    this.insert([item], place);
  }

  unknown(id: string): string {
    const ids = this.items.map((item) => item.id);
    const some = ids.length > 20 ? [...ids.slice(0, 20), '…'] : ids;
    return `there is no ${JSON.stringify(id)}; ${ids.length === 0 ? 'the list is empty' : `the items are ${some.join(', ')}`}`;
  }

  tooMany({ max_items }: TodoCaps): string[] {
    const { length } = this.items;
    if (length <= max_items) return [];
    return [
      `the list would have ${length} items, at most ${max_items} are allowed; todo_clear with keep_open removes the closed ones`,
    ];
  }

  settle(problems: readonly string[], touched: readonly string[]): Edit {
    const all = [...problems];
    const started = this.items.filter(({ state }) => state === 'in_progress');
    if (started.length > 1) {
      const named = started.map(({ id, text }) => `${id} ${JSON.stringify(text)}`);
      const names = [...named.slice(0, 3), ...(named.length > 3 ? ['others'] : [])].join(' and ');
      all.push(
        `${names} would be in progress, at most one may be; in the same call, set the others to done, pending or cancelled`,
      );
    }
    if (all.length > 0) return refused(all);
    const kept = new Set(this.items.map(({ id }) => id));
    const removed = this.#before.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
    return { ok: true, list: { nextId: this.#nextId, items: this.items }, touched, removed };
  }
}

function changed(item: TodoItem, { text, state, note }: Omit<TodoDraft, 'id'>): TodoItem {
  const { note: before, ...rest } = item;
  const after = note ?? before ?? '';
  return {
    ...rest,
    ...(text !== undefined && { text }),
    ...(state !== undefined && { state }),
    ...(after !== '' && { note: after }),
  };
}

function tooLong(drafts: readonly TodoDraft[], caps: TextCaps): string[] {
  return drafts.flatMap(({ text = '', note = '' }, index) => [
    ...over(`items[${index}].text`, text, caps.max_text_chars),
    ...over(`items[${index}].note`, note, caps.max_note_chars),
  ]);
}

function over(name: string, text: string, maxChars: number): string[] {
  if (text.length <= maxChars) return [];
  return [`${name}: has ${text.length} characters, at most ${maxChars} are allowed`];
}

function twice(drafts: readonly TodoDraft[]): string[] {
  const ids = drafts.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const repeated = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...repeated].map((id) => `items: ${JSON.stringify(id)} is there twice`);
}

function refused(problems: readonly string[]): Edit {
  return {
    ok: false,
    problem: `${problems.slice(0, 20).join('; ')}. Nothing was changed.`,
    code: 'input_invalid',
  };
}
