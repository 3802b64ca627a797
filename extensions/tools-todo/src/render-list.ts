import { countStates, isOpen, type TodoItem, type TodoState } from './todo-list.js';

const MARKS: Readonly<Record<TodoState, string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  done: '[x]',
  cancelled: '[-]',
};

/** Items as lines, and those for which there was no room. */
export interface RenderedItems {
  text: string;
  shown: readonly TodoItem[];
  left: readonly TodoItem[];
}

/** Returns one line, e.g. `Todo: 2 open (1 in progress), 3 done, 1 cancelled.` */
export function renderCounts(items: readonly TodoItem[]): string {
  if (items.length === 0) return 'The todo list is empty.';
  const { pending, in_progress, done, cancelled } = countStates(items);
  const open = pending + in_progress;
  const parts = [
    open === 0
      ? 'nothing open'
      : `${open} open${in_progress > 0 ? ` (${in_progress} in progress)` : ''}`,
    ...(done > 0 ? [`${done} done`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
  ];
  return `Todo: ${parts.join(', ')}.`;
}

/**
 * Renders an item. The lines of its note are indented, so that they can't look like another item.
 */
export function renderItem({ id, text, state, note }: TodoItem): string {
  const lines = note === undefined ? [] : note.split('\n').map((line) => `      ${line}`.trimEnd());
  return [`${MARKS[state]} ${id} ${text}`, ...lines].join('\n');
}

/**
 * Renders the items that fit.
 *
 * @param options.limit how many items to show at most
 * @param options.maxChars how many characters the text may have; the first item is always shown
 */
export function renderItems(
  items: readonly TodoItem[],
  { limit, maxChars }: { limit: number; maxChars: number },
): RenderedItems {
  const lines: string[] = [];
  let chars = 0;
  for (const item of items.slice(0, limit)) {
    const line = renderItem(item);
    chars += line.length + 1;
    if (chars > maxChars && lines.length > 0) break;
    lines.push(line);
  }
  return {
    text: lines.join('\n'),
    shown: items.slice(0, lines.length),
    left: items.slice(lines.length),
  };
}

export function listed(items: readonly TodoItem[], all: boolean): readonly TodoItem[] {
  return all ? items : items.filter(isOpen);
}
