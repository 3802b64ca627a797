import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_hover';

const input = z.object({ ref: refSchema });

/** Creates `browser_hover`, which moves the mouse over an element. */
export function createBrowserHoverTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description: 'Move the mouse over an element of the page, and show what changes.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ ref }, ctx) {
      if (ctx.dryRun) return wouldDo(`move the mouse over ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const element = await elementOf(call, ref);
        if ('failure' in element) return element.failure;
        const { deadline } = call;
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
        await andSettle(call, () => element.locator.hover(options));
        return showPage(call, ctx, { said: `Moved over ${element.name}.`, onlyChanges: true });
      });
    },
  });
}
