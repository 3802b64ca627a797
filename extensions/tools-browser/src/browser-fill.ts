import { defineTool, err } from '@ethosagent/plugin-sdk';
import type { Tool, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { asksBefore } from './browser-settings.js';
import { elementOf, onPage, type PageCall, showPage } from './call-browser.js';
import { andSettle } from './settle.js';
import { refSchema, TOOL_BASE, wouldDo } from './tool-base.js';

const NAME = 'browser_fill';
const CHECKED: ReadonlySet<string> = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox']);
const CHOSEN: ReadonlySet<string> = new Set(['combobox', 'listbox']);
const SELECT = 'xpath=self::select';

const fieldSchema = z.object({
  ref: refSchema,
  value: z
    .union([z.string().max(100_000), z.boolean(), z.array(z.string().max(1_000)).max(100)])
    .describe('Text; true or false for a box; the label of an option, or several.'),
});
const input = z.object({ fields: z.array(fieldSchema).min(1).max(50) });
type Field = z.output<typeof fieldSchema>;

/** Creates `browser_fill`, which fills in several fields of a form in one call. */
export function createBrowserFillTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Fill in several fields of a form at once: texts, boxes, choices. Shows what changes.',
    input,
    capabilities: {},
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ fields }, ctx) {
      if (ctx.dryRun) return wouldDo(`fill in ${fields.map(({ ref }) => ref).join(', ')}`);
      return onPage(hub, { ctx, totalMs: ctx.settings.action_timeout_ms }, async (call) => {
        let filled = 0;
        let failure: ToolResult | undefined;
        await andSettle(call, async () => {
          for (const field of fields) {
            failure = await fill(call, field);
            if (failure !== undefined) return;
            filled += 1;
          }
        });
        if (failure !== undefined && !failure.ok) {
          const before =
            filled === 0 ? 'Nothing was filled in' : `The first ${filled} are filled in`;
          return err(`${failure.error}\n${before}; the rest is not.`, failure.code);
        }
        return showPage(call, ctx, { said: `Filled in ${filled} fields.`, onlyChanges: true });
      });
    },
  });
}

/** Fills in one field. @returns why it could not be filled in; `undefined` when it was */
async function fill(call: PageCall, { ref, value }: Field): Promise<ToolResult | undefined> {
  const { deadline, session } = call;
  const role = session.document.known.get(ref)?.role ?? '';
  const isBox = CHECKED.has(role);
  const action = isBox ? undefined : CHOSEN.has(role) ? 'choose' : 'fill';
  const element = await elementOf(call, ref, action);
  if ('failure' in element) return element.failure;
  const { locator, name } = element;
  const options = { timeout: deadline.leftMs() * 0.8, signal: deadline.signal };
  if (isBox) {
    const isOn = value === true || value === 'true';
    if (!isOn && value !== false && value !== 'false') {
      return err(`${name} (${ref}) takes true or false.`, 'input_invalid');
    }
    await locator.setChecked(isOn, options);
    return undefined;
  }
  if (typeof value === 'boolean') return err(`${name} (${ref}) takes a text.`, 'input_invalid');
  // Some elements with this role are text fields.
  const isList = CHOSEN.has(role) && (await deadline.race(locator.locator(SELECT).count())) > 0;
  if (isList) await locator.selectOption(value, options);
  else await locator.fill(typeof value === 'string' ? value : value.join(', '), options);
  return undefined;
}
