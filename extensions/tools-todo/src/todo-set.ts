import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { changeAndTell, countItems, nameIds } from './change-result.js';
import { editStored, setItems } from './edit-list.js';
import { id, note, STATE_HELP, state, text } from './todo-input.js';
import { MAX_ITEMS, SETTINGS_KEY, todoSettings } from './todo-settings.js';

/** Replaces the list of the session. Needs `storage` with scope `session` and kind `kv`. */
export const todoSetTool = defineTool({
  name: 'todo_set',
  description:
    'Write the todo list of this session as a whole: for a new plan, or to reorder it. What is not among the items is removed. An item with an id keeps what you leave out. To change some items, use todo_update; to add some, todo_add.',
  toolset: 'todo',
  input: z.strictObject({
    items: z
      .array(
        z
          .strictObject({
            id: id
              .optional()
              .describe('Id of an item that is in the list, to keep it. Leave out for a new one.'),
            text: text
              .optional()
              .describe('What is to be done, in one line. Needed for a new item.'),
            state: state.optional().describe(`pending when left out for a new item. ${STATE_HELP}`),
            note: note.optional().describe('Details, in a few lines. Empty removes the note.'),
          })
          .refine((item) => item.id !== undefined || item.text !== undefined, {
            path: ['text'],
            message: 'is missing; a new item needs one',
          }),
      )
      .min(1, 'is empty; todo_clear removes all items')
      .max(MAX_ITEMS)
      .describe('All items, in the order in which they are to be done.'),
  }),
  settings: todoSettings,
  settingsKey: SETTINGS_KEY,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  supportsDryRun: true,
  execute: ({ items }, ctx) =>
    changeAndTell(
      ctx,
      ({ list, removed }, isDryRun) => {
        const gone = removed.length === 0 ? '' : ` Removed: ${nameIds(removed)}.`;
        return isDryRun
          ? `The list would have ${countItems(list.items)}.${gone}`
          : `The list has ${countItems(list.items)} now.${gone}`;
      },
      (stored) => editStored(stored, (list) => setItems(list, items, ctx.settings)),
    ),
});
