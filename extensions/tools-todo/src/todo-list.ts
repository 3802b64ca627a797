/** The states that an item can have. */
export const TODO_STATES = ['pending', 'in_progress', 'done', 'cancelled'] as const;

/**
 * The state of an item. `pending` and `in_progress` are open; `done` and `cancelled` are closed.
 */
export type TodoState = (typeof TODO_STATES)[number];

/** One item of a todo list. */
export interface TodoItem {
  /** `t` and a number, e.g. `t3`. No other item of the same session ever gets this id. */
  id: string;
  /** What is to be done, on one line. */
  text: string;
  state: TodoState;
  /** Details, in lines that are separated by `\n`. */
  note?: string;
}

/** The todo list of a session. */
export interface TodoList {
  /** The number in the id of the next new item. */
  readonly nextId: number;
  readonly items: readonly TodoItem[];
}

/** The number of items in each state. */
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
