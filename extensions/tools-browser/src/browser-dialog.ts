import { defineTool, err } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { onPage, showPage } from './call-browser.js';
import { toldDialog } from './held-dialogs.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_dialog';

const input = z
  .object({
    ref: refSchema.describe('The dialog, by its ref.'),
    accept: z.boolean().describe('true for OK, false for Cancel.'),
    text: z.string().max(10_000).optional().describe('For a prompt: the text to fill in.'),
  })
  .refine(({ accept, text }) => accept || text === undefined, 'expected a text only with accept');

/** Creates `browser_dialog`, which answers a dialog of the page. */
export function createBrowserDialogTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description: 'Answer the dialog that the page has open, and show what changes.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, accept, text }, ctx) {
      if (ctx.dryRun) return wouldDo(`${accept ? 'accept' : 'dismiss'} ${ref}`);
      const totalMs = ctx.settings.action_timeout_ms;
      return onPage(hub, { ctx, totalMs, answers: true }, async (call) => {
        const { held } = call.session.dialogs;
        if (held === undefined) return err('No dialog is open. Look at browser_snapshot.');
        // Another dialog may have replaced it.
        if (held.ref !== ref) return err(`${ref} is not the dialog. ${toldDialog(held)}`);
        await andSettle(call, () => call.deadline.race(held.answer(accept, text)));
        const said = accept ? 'Accepted the dialog.' : 'Dismissed the dialog.';
        return showPage(call, ctx, { said, onlyChanges: true });
      });
    },
  });
}
