import { defineTool } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_drag';
/** How many times the mouse moves during a drag. Pages that track the mouse need more than one. */
const STEPS = 5;

const input = z.object({
  from: refSchema.describe('The element to drag, by its ref.'),
  to: refSchema.describe('The element to drop it on, by its ref.'),
});

/** Creates `browser_drag`, which drags one element onto another. */
export function createBrowserDragTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description: 'Drag an element of the page onto another one, and show what changes.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ from, to }, ctx) {
      if (ctx.dryRun) return wouldDo(`drag ${from} onto ${to}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        const target = await elementOf(call, to);
        if ('failure' in target) return target.failure;
        const source = await elementOf(call, from, 'click');
        if ('failure' in source) return source.failure;
        const { deadline } = call;
        const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal, steps: STEPS };
        await andSettle(call, () => source.locator.dragTo(target.locator, options));
        const said = `Dragged ${source.name} onto ${target.name}.`;
        return showPage(call, ctx, { said, onlyChanges: true });
      });
    },
  });
}
