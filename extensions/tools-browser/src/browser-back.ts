import { defineTool, err } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { onPage, showPage } from './call-browser.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_back';

const input = z.object({});

/** Creates `browser_back`, which goes back to the page before, or closes a tab that has none. */
export function createBrowserBackTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Go back to the page before, and show it. In a tab that a page opened, and that has no page before, go back to the tab that it was opened from.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute(_args, ctx) {
      if (ctx.dryRun) return wouldDo('go back', 'if one is open');
      return onPage(hub, { ctx, totalMs: ctx.settings.navigation_timeout_ms }, async (call) => {
        const { deadline, page, session } = call;
        const before = session.moves;
        const timeout = deadline.leftMs() * 0.8;
        const response = await deadline.race(
          page.goBack({ waitUntil: 'domcontentloaded', timeout, signal: deadline.signal }),
        );
        const hasMoved = response !== null || session.moves !== before;
        if (hasMoved) return showPage(call, ctx, { said: 'Went back.' });
        if (session.tabs.length > 1) {
          session.closePage();
          return showPage(call, ctx, { said: 'Closed the tab.' });
        }
        return err('There is no page before this one.');
      });
    },
  });
}
