import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine, takeStart } from '@ethosagent/policy';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import type { BrowserSettings } from './browser-settings.js';
import { elementOf, onPage } from './call-browser.js';
import { hidingValues, secretValues } from './hidden-values.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_evaluate';
const OFF =
  'The operator allows no scripts (allow_evaluate is false). Use the other tools of the browser.';

const input = z.object({
  script: z
    .string()
    .min(1)
    .max(20_000)
    .describe('An expression, or a function: () => document.title; with ref, (element) => ….'),
  ref: refSchema.optional().describe('The element that the function gets.'),
});

/**
 * Creates `browser_evaluate`, which runs a script in the page. The operator has to allow it, and
 * every call waits for approval.
 */
export function createBrowserEvaluateTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Run a script in the page, and show the value that it returns, as JSON. Off unless the operator allows it; each call waits for approval.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: (_args, { settings }: { settings: BrowserSettings }) =>
      settings.allow_evaluate && 'It runs a script in the page, with all that the page may do.',
    async execute({ script, ref }, ctx) {
      const { settings } = ctx;
      if (!settings.allow_evaluate) return err(OFF, 'not_available');
      if (ctx.dryRun) return wouldDo('run the script');
      return onPage(hub, { ctx, totalMs: settings.action_timeout_ms }, async (call) => {
        const { deadline, page, session } = call;
        const element = ref === undefined ? undefined : await elementOf(call, ref);
        if (element !== undefined && 'failure' in element) return element.failure;
        session.remember(await secretValues(page, deadline));
        let given: unknown;
        let thrown: string | undefined;
        await andSettle(call, async () => {
          const run = pageFunction(script);
          const asked = element === undefined ? page.evaluate(run) : element.locator.evaluate(run);
          try {
            given = await deadline.race(asked);
          } catch (error) {
            if (deadline.signal.aborted || !(error instanceof Error)) throw error;
            thrown = error.message;
          }
        });
        session.remember(await secretValues(page, deadline));
        const hide = hidingValues(session.secrets);
        if (thrown !== undefined) return err(`The script failed: ${oneLine(hide(thrown), 500)}`);
        const text = hide(JSON.stringify(given) ?? 'undefined');
        const maxChars = Math.min(settings.max_chars, ctx.resultBudgetChars);
        return ok(text.length > maxChars ? `${takeStart(text, maxChars - 1)}…` : text);
      });
    },
  });
}

/** The library sends the text of this function to the page. It never runs in this process. */
function pageFunction(script: string): (element?: unknown) => unknown {
  const text = `(element) => { const made = (${script}\n); return typeof made === 'function' ? made(element) : made; }`;
  return Object.assign(() => undefined, { toString: () => text });
}
