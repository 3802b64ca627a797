import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const input = z.object({});

/** Closes the browser of the session, with its cookies and everything else it held. */
export function createBrowserCloseTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_close',
    description:
      'Close the browser of this session. Its pages, cookies and logins are gone. It closes by itself at the end of the session.',
    input,
    capabilities: {},
    effects: [],
    async execute(_args, ctx) {
      if (ctx.dryRun) return wouldDo('close the browser');
      const wasOpen = await hub.close(ctx);
      return ok(wasOpen ? 'The browser is closed.' : 'No browser was open.');
    },
  });
}
