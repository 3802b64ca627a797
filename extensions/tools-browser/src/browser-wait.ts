import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage } from './call-browser.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const LONGEST_S = 60;
const MARGIN_MS = 2_000;

const input = z
  .object({
    text: z.string().min(1).max(500).optional().describe('Wait until this text is on the page.'),
    text_gone: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Wait until this text is no longer on the page.'),
    seconds: z
      .number()
      .min(0.1)
      .max(LONGEST_S)
      .default(10)
      .describe('How long to wait at most; without a text, how long to wait.'),
  })
  .refine(
    ({ text, text_gone }) => text === undefined || text_gone === undefined,
    'expected text or text_gone, not both',
  );

/** Creates `browser_wait`, which waits for a text, or for a time. */
export function createBrowserWaitTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_wait',
    description:
      'Wait until a text is on the page that is open in the browser, or is gone from it, or for some seconds. Frames of the page are not searched.',
    input,
    capabilities: {},
    effects: [],
    async execute({ text, text_gone, seconds }, ctx) {
      if (ctx.dryRun) return wouldDo('wait', 'if one is open');
      const waitMs = seconds * 1_000;
      return onPage(hub, { ctx, totalMs: waitMs + MARGIN_MS }, async ({ deadline, page }) => {
        const wanted = text ?? text_gone;
        if (wanted === undefined) {
          await deadline.sleep(waitMs);
          return ok(`Waited ${seconds} s.`);
        }
        const state = text === undefined ? 'hidden' : 'visible';
        const options = { state, timeout: waitMs, signal: deadline.signal } as const;
        const shown = JSON.stringify(oneLine(wanted, 100));
        try {
          const found = page.getByText(wanted).filter({ visible: true }).first();
          await deadline.race(found.waitFor(options));
        } catch (error) {
          if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
          if (deadline.signal.aborted) throw error;
          return err(
            `After ${seconds} s, ${shown} is ${text === undefined ? 'still' : 'not'} on the page. Look at it with browser_snapshot.`,
            'execution_failed',
            'CALL_TIMED_OUT',
          );
        }
        return ok(
          `${shown} is ${text === undefined ? 'no longer' : ''} on the page.`.replace('  ', ' '),
        );
      });
    },
  });
}
