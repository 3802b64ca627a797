/** The states of an item, in the order in which they are counted. */
export const TODO_STATES = ['pending', 'in_progress', 'done', 'cancelled'] as const;

/** `pending` and `in_progress` are open; `done` and `cancelled` are closed. */
export type TodoState = (typeof TODO_STATES)[number];

/** One thing that is to be done. */
export interface TodoItem {
  /** `t` and a number; never given to another item of the same session. */
  id: string;
  /** One line. */
  text: string;
  state: TodoState;
  /** Lines separated by `\n`. */
  note?: string;
}

/** A session's list, in its order. */
export interface TodoList {
  /** The number of the next id. */
  readonly nextId: number;
  readonly items: readonly TodoItem[];
}

/** How many items are in which state. */
export type TodoCounts = Record<TodoState, number>;

export const EMPTY_LIST: TodoList = { nextId: 1, items: [] };

export function isOpen({ state }: TodoItem): boolean {
  return state === 'pending' || state === 'in_progress';
}

export function countStates(items: readonly TodoItem[]): TodoCounts {
  const counts: TodoCounts = { pending: 0, in_progress: 0, done: 0, cancelled: 0 };
  for (const { state } of items) counts[state] += 1;
  return counts;
}
