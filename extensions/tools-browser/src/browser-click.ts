import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_click';

const input = z.object({
  ref: refSchema,
  button: z.enum(['left', 'right', 'middle']).default('left').describe('The button of the mouse.'),
  double: z.boolean().default(false).describe('Click twice.'),
  modifiers: z
    .array(z.enum(['Alt', 'Control', 'Meta', 'Shift']))
    .max(4)
    .optional()
    .describe('Keys to hold down during the click.'),
});

/** Creates `browser_click`, which clicks an element and shows the page afterwards. */
export function createBrowserClickTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Click an element of the page that is open in the browser, and show the page afterwards. Waits until the element can be clicked, and for a page that the click opens.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref, button, double, modifiers }, ctx) {
      if (ctx.dryRun) return wouldDo(`click ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const element = await elementOf(call, ref, 'click');
        if ('failure' in element) return element.failure;
        const { deadline } = call;
        const options = {
          button,
          ...(modifiers !== undefined && { modifiers }),
          timeout: deadline.leftMs() * 0.8,
          signal: deadline.signal,
        };
        await andSettle(call, () =>
          double ? element.locator.dblclick(options) : element.locator.click(options),
        );
        return showPage(call, ctx, { said: `Clicked ${element.name}.`, onlyChanges: true });
      });
    },
  });
}
