import { defineTool } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { changeAndTell, countItems } from './change-result.js';
import { clearItems } from './edit-list.js';
import { parseList } from './stored-list.js';

/**
 * Removes all items from the list of the session, or only the closed ones. Needs `storage` with
 * scope `session` and kind `kv`.
 */
export const todoClearTool = defineTool({
  name: 'todo_clear',
  description:
    'Remove all items of the todo list of this session; with keep_open, only those that are done or cancelled. Ids are not given again.',
  toolset: 'todo',
  input: z.strictObject({
    keep_open: z.boolean().default(false).describe('Keep pending items and the one in progress.'),
  }),
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  supportsDryRun: true,
  execute({ keep_open }, ctx) {
    let isReadable = true;
    return changeAndTell(
      ctx,
      ({ removed }, isDryRun) => {
        const what = isReadable ? countItems(removed) : 'a list that could not be read';
        return isDryRun ? `${what} would be removed.` : `Removed: ${what}.`;
      },
      (stored) => {
        isReadable = parseList(stored).ok;
        return clearItems(stored, keep_open);
      },
    );
  },
});
