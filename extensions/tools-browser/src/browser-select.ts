import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_select';

const input = z.object({
  ref: refSchema,
  values: z
    .array(z.string().max(1_000))
    .min(1)
    .max(100)
    .describe(
      'The options to choose, by their labels or values. Only one, unless the list allows several.',
    ),
});

/** Creates `browser_select`, which chooses options of a list. */
export function createBrowserSelectTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Choose options of a drop-down or list box of the page that is open in the browser, and show the page afterwards. Options that the call does not name are no longer chosen.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, values }, ctx) {
      if (ctx.dryRun) return wouldDo(`choose ${JSON.stringify(values)} in ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const element = await elementOf(call, ref, 'choose');
        if ('failure' in element) return element.failure;
        const { deadline } = call;
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
        let chosen = 0;
        await andSettle(call, async () => {
          chosen = (await element.locator.selectOption(values, options)).length;
        });
        return showPage(call, ctx, {
          said: `Chose ${chosen} of ${element.name}.`,
          onlyChanges: true,
        });
      });
    },
  });
}
