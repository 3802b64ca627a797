import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { Tool, ToolContext } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import type { BrowserSettings } from './browser-settings.js';
import { createDeadline } from './deadline.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const NEVER = new AbortController().signal;

const input = z.object({});

/**
 * Creates `browser_close`, which closes the browser of the session and forgets its cookies and
 * logins.
 */
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
      if (ctx.dryRun) return wouldDo('close the browser', 'if one is open');
      const wasOpen = await inTime(hub, ctx);
      return ok(wasOpen ? 'The browser is closed.' : 'No browser was open.');
    },
  });
}

/** Waits a limited time for the earlier calls, then ends them. */
async function inTime(
  hub: BrowserHub,
  ctx: Pick<ToolContext, 'abortSignal' | 'personalityId' | 'sessionId'> & {
    settings: BrowserSettings;
  },
): Promise<boolean> {
  const { navigation_timeout_ms } = ctx.settings;
  const waiting = createDeadline(navigation_timeout_ms, ctx.abortSignal, NEVER);
  try {
    return await hub.inTurn(ctx, waiting.signal, () => hub.close(ctx));
  } catch (error) {
    if (waiting.ended !== 'out of time') throw error;
    return hub.close(ctx);
  } finally {
    waiting.clear();
  }
}
