import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { Tool } from '@ethosagent/types';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { BrowserHub } from './browser-hub.js';
import { onPage, type PageCall, showPage } from './call-browser.js';
import { hidingInUrl, hidingValues } from './hidden-values.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';
import { within } from './within.js';

const TITLE_MS = 1_000;

const input = z
  .object({
    action: z.enum(['list', 'show', 'close']).default('list'),
    tab: z.int().min(1).optional().describe('Its number in the list.'),
  })
  .refine(
    ({ action, tab }) => (action === 'list') === (tab === undefined),
    'expected a tab with show and close, and none with list',
  );

/**
 * Creates `browser_tabs`, which lists the tabs of the browser, shows another one, or closes one.
 */
export function createBrowserTabsTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: 'browser_tabs',
    description:
      'List the tabs of the browser, show another one, or close one. browser_navigate opens new ones.',
    input,
    capabilities: {},
    effects: [],
    async execute({ action, tab }, ctx) {
      if (ctx.dryRun) return wouldDo(`${action} ${tab ?? 'the tabs'}`, 'if a browser is open');
      const totalMs = ctx.settings.action_timeout_ms;
      return onPage(hub, { ctx, totalMs, answers: true }, async (call) => {
        const { session } = call;
        if (tab === undefined) return list(call);
        const page = session.tabs[tab - 1];
        if (page === undefined) return err(`There is no tab ${tab}. List them first.`);
        if (action === 'show') session.showTab(page);
        else session.closeTab(page);
        if (session.page === undefined) return ok('Closed the last tab.');
        if (action === 'close' && page !== call.page) return list(call);
        return showPage(call, ctx, { said: action === 'show' ? '' : 'Closed the tab.' });
      });
    },
  });
}

async function list({ session, deadline }: PageCall) {
  const secrets = session.secrets;
  const tabs = await Promise.all(
    session.tabs.map(async (page, at) => ({
      tab: at + 1,
      isShown: page === session.page,
      url: oneLine(hidingInUrl(secrets)(page.url()), 500),
      title: oneLine(hidingValues(secrets)(await titleOf(page, deadline)), 100),
    })),
  );
  const lines = tabs.map(
    ({ tab, isShown, url, title }) =>
      `${tab}. ${url} ${JSON.stringify(title)}${isShown ? ' (shown)' : ''}`,
  );
  return ok(lines.join('\n'), { structured: { tabs } });
}

/** Reads the title of a tab. A busy tab, or one with an open dialog, does not tell it. */
async function titleOf(page: Page, deadline: PageCall['deadline']): Promise<string> {
  const title = await within(
    Math.min(TITLE_MS, deadline.leftMs()),
    page.title().catch(() => ''),
  );
  return title ?? '';
}
