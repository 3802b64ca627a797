import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage, showPage } from './call-browser.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const input = z.object({
  from_line: z
    .int()
    .min(1)
    .default(1)
    .describe('The first line to show, as an earlier answer named it.'),
});

/** Creates `browser_snapshot`, which shows the page as it is now. */
export function createBrowserSnapshotTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_snapshot',
    description:
      'Show the page that is open in the browser as it is now: a list of its elements, each with its role, its name in quotes, and a ref such as kq15 that other calls can name.',
    input,
    capabilities: {},
    effects: [],
    async execute({ from_line }, ctx) {
      if (ctx.dryRun) return wouldDo('show the page', 'if one is open');
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, (call) =>
        showPage(call, ctx, { from: from_line }),
      );
    },
  });
}
