import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { listed, renderCounts, renderItems } from './render-list.js';
import { parseList } from './stored-list.js';
import { id } from './todo-input.js';
import { countStates, type TodoItem } from './todo-list.js';
import { SETTINGS_KEY, todoSettings } from './todo-settings.js';
import { LIST_KEY } from './todo-store.js';

/** Shows the list of the session. Needs `storage` with scope `session` and kind `kv`. */
export const todoListTool = defineTool({
  name: 'todo_list',
  description:
    'Show the todo list of this session: what is open, or with all also what is done and cancelled. [ ] is pending, [>] in progress, [x] done, [-] cancelled.',
  toolset: 'todo',
  input: z.strictObject({
    all: z.boolean().default(false).describe('Show done and cancelled items too.'),
    after: id.optional().describe('Show only what comes after this item, to read on.'),
  }),
  settings: todoSettings,
  settingsKey: SETTINGS_KEY,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  supportsDryRun: true,
  async execute({ all, after }, ctx) {
    const stored = parseList(await ctx.kvStore.get(LIST_KEY));
    if (!stored.ok) return err(stored.problem);
    const { items } = stored.list;
    const from = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1;
    if (after !== undefined && from === 0) {
      return err(`after: there is no ${JSON.stringify(after)} in the list`, 'input_invalid');
    }
    const asked = listed(items.slice(from), all);
    const counts = renderCounts(items);
    const { text, shown, left } = renderItems(asked, {
      limit: ctx.settings.max_shown,
      maxChars: ctx.resultBudgetChars - counts.length - 100,
    });
    const last = shown.at(-1);
    const lines = [
      counts,
      ...(text === '' ? [] : [text]),
      ...(last === undefined || left.length === 0 ? [] : [moreAfter(last, left.length, all)]),
    ];
    return ok(lines.join('\n'), {
      structured: { items: [...shown], counts: countStates(items), left: left.length },
    });
  },
});

function moreAfter({ id }: TodoItem, left: number, all: boolean): string {
  return `… and ${left} more; todo_list with after: ${JSON.stringify(id)}${all ? ' and all' : ''} shows them.`;
}
