import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { changeAndTell, nameIds } from './change-result.js';
import { editStored, updateItems } from './edit-list.js';
import { id, isOnePlace, note, place, STATE_HELP, state, TWO_PLACES, text } from './todo-input.js';
import { MAX_ITEMS, SETTINGS_KEY, todoSettings } from './todo-settings.js';

/** Changes items of the list of the session. Needs `storage` with scope `session` and kind `kv`. */
export const todoUpdateTool = defineTool({
  name: 'todo_update',
  description:
    'Change items of the todo list of this session: state, text, note or place. All changes of a call are made, or none, so finish one item and begin the next in one call.',
  toolset: 'todo',
  input: z.strictObject({
    items: z
      .array(
        z
          .strictObject({
            id: id.describe('Id of the item, such as t3.'),
            state: state.optional().describe(`The new state. ${STATE_HELP}`),
            text: text.optional().describe('The new text, in one line.'),
            note: note.optional().describe('The new note. Empty removes it.'),
            ...place,
          })
          .refine(isOnePlace, { path: ['after'], message: TWO_PLACES })
          .refine(
            ({ id: _, ...rest }) => Object.values(rest).some((value) => value !== undefined),
            'changes nothing; give state, text, note, before or after',
          ),
      )
      .min(1)
      .max(MAX_ITEMS)
      .describe('The changes. What is left out of one stays as it is.'),
  }),
  settings: todoSettings,
  settingsKey: SETTINGS_KEY,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  supportsDryRun: true,
  execute: ({ items }, ctx) =>
    changeAndTell(
      ctx,
      ({ touched }, isDryRun) =>
        isDryRun ? `${nameIds(touched)} would be updated.` : `Updated ${nameIds(touched)}.`,
      (stored) => editStored(stored, (list) => updateItems(list, items, ctx.settings)),
    ),
});
