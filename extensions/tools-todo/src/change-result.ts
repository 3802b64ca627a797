import { err, ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { renderCounts, renderItems } from './render-list.js';
import { countStates } from './todo-list.js';
import { changeStored, type DoneEdit, type Edit, type TodoContext } from './todo-store.js';

/** How many items the answer to a change shows at most. */
const MAX_LINES = 50;

/** Returns the sentence that describes a change, e.g. `Added t1, t2.` */
export type TellChange = (edit: DoneEdit, isDryRun: boolean) => string;

/**
 * Changes the stored list. The result says what changed, shows the changed items, and gives the
 * counts.
 */
export async function changeAndTell(
  ctx: TodoContext,
  tell: TellChange,
  edit: (stored: string | null) => Edit,
): Promise<ToolResult> {
  const edited = await changeStored(ctx, edit);
  if (!edited.ok) return err(edited.problem, edited.code);
  const { touched, removed, list } = edited;
  const isDryRun = ctx.dryRun === true;
  const head = `${isDryRun ? '[dry-run] ' : ''}${tell(edited, isDryRun)}`;
  const ids = new Set(touched);
  const told = list.items.filter(({ id }) => ids.has(id));
  const counts = renderCounts(list.items);
  const room = ctx.resultBudgetChars - head.length - counts.length - 40;
  const { text, left } = renderItems(told, { limit: MAX_LINES, maxChars: room });
  const lines = [
    head,
    ...(told.length > 0 ? [text] : []),
    ...(left.length > 0 ? [`… and ${left.length} more.`] : []),
    counts,
  ];
  return ok(lines.join('\n'), {
    structured: {
      touched: [...touched],
      removed: [...removed],
      items: [...list.items],
      counts: countStates(list.items),
      ...(isDryRun && { dryRun: true }),
    },
  });
}

/** Returns `t1, t2, t3`, or only the number of items when there are more than 10. */
export function nameIds(ids: readonly string[]): string {
  return ids.length > 10 ? countItems(ids) : ids.join(', ');
}

export function countItems(items: readonly unknown[]): string {
  return items.length === 1 ? '1 item' : `${items.length} items`;
}
