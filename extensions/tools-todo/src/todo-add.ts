import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { changeAndTell, nameIds } from './change-result.js';
import { addItems, editStored, type TodoPlace } from './edit-list.js';
import { isOnePlace, note, place, STATE_HELP, state, TWO_PLACES, text } from './todo-input.js';
import { MAX_ITEMS, SETTINGS_KEY, todoSettings } from './todo-settings.js';

/** Adds items to the list of the session. Needs `storage` with scope `session` and kind `kv`. */
export const todoAddTool = defineTool({
  name: 'todo_add',
  description:
    'Add items to the todo list of this session: at its end, or before or after an item. The answer says which ids they got.',
  toolset: 'todo',
  input: z
    .strictObject({
      items: z
        .array(
          z.strictObject({
            text: text.describe('What is to be done, in one line.'),
            state: state.default('pending').describe(STATE_HELP),
            note: note.optional().describe('Details, in a few lines.'),
          }),
        )
        .min(1)
        .max(MAX_ITEMS)
        .describe('The new items, in their order.'),
      ...place,
    })
    .refine(isOnePlace, { path: ['after'], message: TWO_PLACES }),
  settings: todoSettings,
  settingsKey: SETTINGS_KEY,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  supportsDryRun: true,
  execute: ({ items, before, after }, ctx) =>
    changeAndTell(
      ctx,
      ({ touched }, isDryRun) => {
        const where = placeText({ before, after });
        return isDryRun
          ? `${nameIds(touched)} would be added${where}.`
          : `Added ${nameIds(touched)}${where}.`;
      },
      (stored) =>
        editStored(stored, (list) =>
          addItems(list, { drafts: items, place: { before, after } }, ctx.settings),
        ),
    ),
});

function placeText({ before, after }: TodoPlace): string {
  if (before !== undefined) return ` before ${before}`;
  return after === undefined ? '' : ` after ${after}`;
}
