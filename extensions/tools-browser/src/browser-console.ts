import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage } from './call-browser.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';

const input = z.object({
  level: z
    .enum(['error', 'warning', 'info'])
    .default('info')
    .describe('The lowest level of lines to show.'),
  limit: z
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe('How many lines to show at most: the last ones.'),
  clear: z.boolean().default(false).describe('Forget all lines afterwards.'),
});

const LEVELS = ['error', 'warning', 'info'] as const;

/** Creates `browser_console`, which shows the lines that the pages wrote to their console. */
export function createBrowserConsoleTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_console',
    description:
      'Show what the pages of the browser wrote to their console, errors that no script caught among it. The last 200 lines are kept.',
    input,
    capabilities: {},
    effects: [],
    async execute({ level, limit, clear }, ctx) {
      if (ctx.dryRun) return wouldDo('show the console', 'if one is open');
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async ({ session }) => {
        const log = session.console;
        const levels = LEVELS.slice(0, LEVELS.indexOf(level) + 1);
        const fitting = log.entries.filter((entry) => levels.includes(entry.level));
        const shown = fitting.slice(-limit);
        const lines = shown.map((entry) => `${entry.level}: ${entry.text}`);
        const hidden = fitting.length - shown.length;
        if (hidden > 0) lines.unshift(`[${hidden} earlier lines]`);
        if (log.dropped > 0) lines.unshift(`[${log.dropped} lines before them are no longer kept]`);
        const structured = { entries: shown, dropped: log.dropped };
        if (clear) log.clear();
        return ok(lines.join('\n') || 'The console is empty.', { structured });
      });
    },
  });
}
