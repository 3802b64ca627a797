import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { secretValues } from './hidden-values.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_type';

const input = z.object({
  ref: refSchema,
  text: z.string().max(100_000).describe('The exact text for the field.'),
  append: z
    .boolean()
    .default(false)
    .describe('Type the text key by key after the text in the field, instead of replacing it.'),
  submit: z.boolean().default(false).describe('Press Enter afterwards.'),
});

/** Creates `browser_type`, which fills in a field. The answer does not repeat the typed text. */
export function createBrowserTypeTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Type a text into a field of the page that is open in the browser, and show the page afterwards. The text replaces the text in the field. With submit, Enter is pressed afterwards.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, text, append, submit }, ctx) {
      if (ctx.dryRun) return wouldDo(`type ${text.length} characters into ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const element = await elementOf(call, ref, append ? undefined : 'fill');
        if ('failure' in element) return element.failure;
        const { deadline } = call;
        const { locator, name } = element;
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
        await andSettle(call, async () => {
          if (append) await locator.pressSequentially(text, options);
          else await locator.fill(text, options);
          if (!submit) return;
          // The next URL may contain the typed values, and the next page may not have the field.
          call.session.remember(await secretValues(call.page, deadline));
          await locator.press('Enter', options);
        });
        const entered = submit ? ' and pressed Enter' : '';
        return showPage(call, ctx, {
          said: `Typed ${text.length} characters into ${name}${entered}.`,
          onlyChanges: true,
        });
      });
    },
  });
}
