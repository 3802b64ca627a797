import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage } from './call-browser.js';
import { findLines } from './find-lines.js';
import { renderSnapshot } from './render-snapshot.js';
import { takeSnapshot } from './snapshot.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const input = z.object({
  text: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe(
      'The text. Case does not matter, and * stands for any characters. A role such as button is found, too.',
    ),
  limit: z.int().min(1).max(100).default(10),
});

/** Creates `browser_find`, which shows only the elements of the page that have a text. */
export function createBrowserFindTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_find',
    description:
      'Find a text in the page that is open in the browser: the elements that have it, with refs, and what they are in. Costs less than browser_snapshot on a long page.',
    input,
    capabilities: {},
    effects: [],
    async execute({ text, limit }, ctx) {
      if (ctx.dryRun) return wouldDo('look for it', 'if a page is open');
      const { action_timeout_ms, max_chars } = ctx.settings;
      return onPage(hub, { ctx, totalMs: action_timeout_ms }, async ({ session, deadline }) => {
        const { snapshot } = await takeSnapshot(session, deadline);
        const { lines, found } = findLines(snapshot.lines, text, limit);
        const quoted = JSON.stringify(oneLine(text, 200));
        if (found === 0) return ok(`${quoted} is not on the page.`, { structured: { found } });
        const more = found > limit ? `; the first ${limit}` : '';
        const maxChars = Math.min(max_chars, ctx.resultBudgetChars) - 300;
        const shown = renderSnapshot({ lines, isPartial: snapshot.isPartial }, { maxChars });
        return ok(`${found} with ${quoted}${more}:\n${shown.text}`, { structured: { found } });
      });
    },
  });
}
