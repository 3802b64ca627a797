import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { elementOf, onPage } from './call-browser.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const REDRAW_MS = 200;

const input = z.object({
  direction: z
    .enum(['up', 'down', 'left', 'right'])
    .default('down')
    .describe('The direction to scroll in.'),
  pixels: z.int().min(1).max(100_000).optional().describe('How far. Most of a screen when absent.'),
  ref: refSchema
    .optional()
    .describe('Scroll this element into view instead. The other arguments are then ignored.'),
});

/** Creates `browser_scroll`, which scrolls the page, or scrolls to an element. */
export function createBrowserScrollTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_scroll',
    description:
      'Scroll the page that is open in the browser, or scroll to one of its elements. A snapshot has the whole page anyway: scroll for a screenshot, or to make a page load more.',
    input,
    capabilities: {},
    effects: [],
    async execute({ direction, pixels, ref }, ctx) {
      if (ctx.dryRun)
        return wouldDo(ref === undefined ? `scroll ${direction}` : `scroll to ${ref}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const { deadline, page } = call;
        if (ref !== undefined) {
          const element = await elementOf(call, ref);
          if ('failure' in element) return element.failure;
          await element.locator.scrollIntoViewIfNeeded({
            timeout: deadline.leftMs(),
            signal: deadline.signal,
          });
          return ok(`${element.name} is in view.`);
        }
        const { width, height } = ctx.settings.viewport;
        const isUpright = direction === 'up' || direction === 'down';
        const far = pixels ?? Math.round((isUpright ? height : width) * 0.8);
        const by = direction === 'up' || direction === 'left' ? -far : far;
        await deadline.race(page.mouse.move(width / 2, height / 2));
        await deadline.race(page.mouse.wheel(isUpright ? 0 : by, isUpright ? by : 0));
        await deadline.sleep(REDRAW_MS);
        return ok(`Scrolled ${direction} by ${far} pixels, as far as the page goes.`);
      });
    },
  });
}
