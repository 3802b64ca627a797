import type { KeyValueStore, ToolErrorCode } from '@ethosagent/types';
import { formatList } from './stored-list.js';
import { EMPTY_LIST, type TodoList } from './todo-list.js';

// Other tools share the namespace of a session.
export const LIST_KEY = 'todo:list';
// Calls of this process take turns, so each retry is a write of another process.
const MAX_TURNS = 1_000;
const NOTHING = formatList(EMPTY_LIST);

/** The part of the tool context that the todo tools use. */
export interface TodoContext {
  kvStore: KeyValueStore;
  abortSignal: AbortSignal;
  resultBudgetChars: number;
  dryRun?: boolean;
}

/** A planned change, or why it can't be made. */
export type Edit = DoneEdit | { ok: false; problem: string; code: ToolErrorCode };

export interface DoneEdit {
  ok: true;
  /** The list after the change. */
  list: TodoList;
  /** Ids of the items that were added or changed. */
  touched: readonly string[];
  /** Ids of the items that were removed. */
  removed: readonly string[];
}

/**
 * Changes the stored list; a dry run writes nothing. It reads the list, plans the change, and
 * writes only when nobody else wrote in between. Otherwise it begins again. A store without
 * `compareAndSet` gives this guarantee only among the calls of this process.
 *
 * @param edit plans the change of the stored value; it may be called several times
 * @returns the change that was made, or why it was not made
 */
export async function changeStored(
  { kvStore, abortSignal, dryRun }: TodoContext,
  edit: (stored: string | null) => Edit,
): Promise<Edit> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    abortSignal.throwIfAborted();
    const stored = await kvStore.get(LIST_KEY);
    const edited = edit(stored);
    if (!edited.ok || dryRun === true) return edited;
    const next = formatList(edited.list);
    if (next === (stored ?? NOTHING) || (await replace(kvStore, stored, next))) return edited;
  }
  return {
    ok: false,
    problem: 'Other processes change the todo list all the time. Nothing was changed; try again.',
    code: 'execution_failed',
  };
}

async function replace(
  store: KeyValueStore,
  before: string | null,
  next: string,
): Promise<boolean> {
  if (store.compareAndSet !== undefined) return store.compareAndSet(LIST_KEY, before, next);
  await store.set(LIST_KEY, next);
  return true;
}
