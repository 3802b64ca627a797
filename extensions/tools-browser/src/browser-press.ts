import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_press';

const NAMED =
  /^(?:Enter|Tab|Escape|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|Space|F(?:[1-9]|1[0-2])|[ -~])$/;
const MODIFIERS = /^(?:(?:Control|Shift|Alt|Meta)\+){0,4}/;

const input = z.object({
  key: z
    .string()
    .max(60)
    .refine(
      (key) => NAMED.test(key.replace(MODIFIERS, '')),
      'expected a key such as Enter, Tab, Escape, ArrowDown, PageDown, F5 or a, with modifiers as in Control+a',
    )
    .describe('The key: Enter, Tab, Escape, ArrowDown, a, …; with modifiers as in Control+a.'),
  ref: refSchema.optional().describe('The element that gets the key. The focused one when absent.'),
});

/** Creates `browser_press`, which presses a key. */
export function createBrowserPressTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Press a key, or keys together, on the page that is open in the browser, and show the page afterwards.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ key, ref }, ctx) {
      if (ctx.dryRun) return wouldDo(`press ${key}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const { deadline, page } = call;
        const element = ref === undefined ? undefined : await elementOf(call, ref);
        if (element !== undefined && 'failure' in element) return element.failure;
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
        await andSettle(call, () =>
          deadline.race(
            element === undefined ? page.keyboard.press(key) : element.locator.press(key, options),
          ),
        );
        return showPage(call, ctx, { said: `Pressed ${key}.`, onlyChanges: true });
      });
    },
  });
}
