import { defineTool, err } from '@ethosagent/plugin-sdk';
import { isWebUrl, oneLine } from '@ethosagent/policy';
import {
  errorCodeOf,
  type ScopedServices,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '@ethosagent/types';
import type { Page, Response } from 'playwright-core';
import { z } from 'zod';
import { browserFailure, isDownload } from './browser-failure.js';
import type { BrowserHub } from './browser-hub.js';
import type { BrowserSession } from './browser-session.js';
import { asksBefore } from './browser-settings.js';
import {
  type BrowserContextOfCall,
  inTurn,
  showPage,
  untilDialog,
  withNotices,
} from './call-browser.js';
import { createDeadline, type Deadline } from './deadline.js';
import { waitForLoad } from './settle.js';
import { MAX_TABS } from './tabs.js';
import { TOOL_BASE, wouldDo } from './tool-base.js';
import { within } from './within.js';

const NAME = 'browser_navigate';
/** The header that marks answers of the proxy itself. The proxy removes it from answers of servers. */
const MARK_HEADER = 'x-ethos-proxy';
const LOAD_MS = 3_000;
const TAB_MS = 4_000;
const OFFER_MS = 4_000;
const START_MS = 45_000;
const NO_SIGNAL = new AbortController().signal;

const input = z.object({
  url: z
    .string()
    .max(8_000)
    .refine(
      (url) => url === 'about:blank' || isWebUrl(url),
      'expected an absolute http: or https: URL without a user name, or about:blank',
    )
    .describe('An absolute http: or https: URL.'),
  new_tab: z.boolean().default(false).describe('Open it in a new tab.'),
});

/**
 * Creates `browser_navigate`, which opens an address, and starts the browser of the session when
 * there is none. Needs `network` with `*`, `process` and `service`.
 */
export function createBrowserNavigateTool(hub: BrowserHub): Tool<z.output<typeof input>> {
  return defineTool({
    ...TOOL_BASE,
    name: NAME,
    description:
      'Open an address in the browser of this session, and show the page: a list of its elements, with a ref for each that other calls can name. The browser is started when there is none. Scripts run. Only hosts that this agent may reach can be opened or loaded.',
    input,
    capabilities: {
      network: { allowedHosts: ['*'] },
      process: { allowedBinaries: ['*'] },
      service: { scope: 'session' },
    },
    effects: ['send'],
    requiresApproval: asksBefore(NAME),
    async execute({ url, new_tab }, ctx: Context) {
      if (ctx.dryRun) return wouldDo(`open ${new URL(url).href}`, 'if its host may be reached');
      return navigate(hub, { url, newTab: new_tab, ctx });
    },
  });
}

type Context = BrowserContextOfCall &
  Pick<ToolContext, 'dryRun' | 'emit'> & { services?: ScopedServices };

/** The address that a call wants to open, and the tab for it. */
interface Order {
  url: string;
  newTab: boolean;
  ctx: Context;
}

async function navigate(hub: BrowserHub, order: Order): Promise<ToolResult> {
  const { ctx } = order;
  const { services } = ctx;
  if (services === undefined) {
    return err(
      'browser_navigate needs ctx.services: call it through a tool registry.',
      'not_available',
    );
  }
  return inTurn(hub, ctx, async () => {
    let session = await start(hub, services, ctx);
    if ('ok' in session) return session;
    let result = await openIn(hub, session, order);
    if (result === 'stuck') {
      await hub.close(ctx, 'The one before no longer answered, and was ended.');
      session = await start(hub, services, ctx);
      if ('ok' in session) return session;
      result = await openIn(hub, session, order);
    }
    if (result !== 'stuck') return result;
    return err('The browser does not answer. Try once more.', 'execution_failed', 'CALL_TIMED_OUT');
  });
}

/**
 * Returns the browser of the session, and starts it when there is none; or says why it can't start.
 */
async function start(
  hub: BrowserHub,
  services: ScopedServices,
  ctx: Context,
): Promise<BrowserSession | ToolResult> {
  const { settings } = ctx;
  const startMs = Math.max(START_MS, settings.navigation_timeout_ms);
  const starting = createDeadline(startMs, ctx.abortSignal, NO_SIGNAL);
  let session: BrowserSession | undefined;
  try {
    session = await starting.race(hub.running(ctx));
    if (session !== undefined) return session;
    ctx.emit({
      type: 'progress',
      toolName: NAME,
      message: 'starting the browser',
      audience: 'user',
    });
    session = await starting.race(hub.open(ctx, services, settings));
  } catch (error) {
    return browserFailure(error, starting);
  } finally {
    starting.clear();
  }
  if (session === undefined) {
    return err(
      `${settings.max_sessions} browsers run already, and no more may. Try again when another session has closed its own.`,
    );
  }
  const reason = hub.takeReason(ctx);
  if (reason !== undefined) session.notices.add(`This is a new browser. ${reason}`);
  return session;
}

async function openIn(
  hub: BrowserHub,
  session: BrowserSession,
  { url, newTab, ctx }: Order,
): Promise<ToolResult | 'stuck'> {
  const { settings } = ctx;
  const deadline = createDeadline(settings.navigation_timeout_ms, ctx.abortSignal, session.gone);
  try {
    // The old page is no longer asked anything.
    session.dialogs.isHolding = false;
    session.dialogs.dismiss();
    const result = await untilDialog(session, deadline, () =>
      goTo({ session, url, newTab, ctx, deadline }),
    );
    return result === 'stuck' ? result : withNotices(session, result);
  } catch (error) {
    return withNotices(session, browserFailure(error, deadline));
  } finally {
    session.dialogs.isHolding = true;
    deadline.clear();
    hub.touch(ctx, settings);
  }
}

async function goTo({
  session,
  url,
  newTab,
  ctx,
  deadline,
}: {
  session: BrowserSession;
  url: string;
  newTab: boolean;
  ctx: Context;
  deadline: Deadline;
}): Promise<ToolResult | 'stuck'> {
  if (newTab && session.page !== undefined) {
    const opened = await deadline.race(session.newTab());
    if (opened === undefined) {
      return err(`There are ${MAX_TABS} tabs already. Close one with browser_tabs.`);
    }
  }
  let page = await tabOf(session, deadline);
  if (page === undefined) return 'stuck';
  let response: Response | null;
  try {
    response = await open(page, url, deadline);
  } catch (error) {
    if (!isCrossed(error) && !isPageGone(error, deadline)) throw error;
    // The old page keeps navigating elsewhere, or crashes, so it is closed first.
    session.closePage();
    page = await tabOf(session, deadline);
    if (page === undefined) return 'stuck';
    response = await open(page, url, deadline);
  }
  const refusal = response && (await refusalIn(response, session.proxyMark, deadline));
  if (refusal) {
    // The text is from this call's own proxy, so it may be shown. It begins with its code, as every error does.
    const cause = errorCodeOf({ code: refusal.split(':', 1)[0] });
    const text = `${refusal.replace(/\.$/, '')}. The page could not be opened.`;
    return err(text, 'execution_failed', cause);
  }
  await waitForLoad(page, deadline, { state: 'load', atMostMs: LOAD_MS });
  const status = response?.status();
  const said = status === undefined || (status >= 200 && status < 300) ? '' : `HTTP ${status}`;
  return showPage({ session, deadline }, ctx, {
    said,
    structured: { ...(status !== undefined && { status }) },
  });
}

/** Returns a tab that responds; `undefined` when the browser doesn't, because a page floods it. */
function tabOf(session: BrowserSession, deadline: Deadline): Promise<Page | undefined> {
  return deadline.race(within(TAB_MS, session.freshPage()));
}

async function open(page: Page, url: string, deadline: Deadline): Promise<Response | null> {
  let onOffer = () => {};
  const offered = new Promise<void>((resolve) => {
    onOffer = resolve;
  });
  page.once('download', onOffer);
  try {
    const options = { timeout: deadline.leftMs(), signal: deadline.signal };
    return await deadline.race(page.goto(url, { ...options, waitUntil: 'domcontentloaded' }));
  } catch (error) {
    // The event comes after the failure. Its notice is for this call, and not for the next page.
    if (isDownload(error)) await deadline.race(within(OFFER_MS, offered));
    throw error;
  } finally {
    page.off('download', onOffer);
  }
}

/** Whether the navigation failed because another one interrupted it. */
function isCrossed(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return /ERR_ABORTED|interrupted by another navigation/.test(message) && !isDownload(error);
}

/** Whether the navigation failed because the shown page crashed at that moment. */
function isPageGone(error: unknown, deadline: Deadline): boolean {
  const message = error instanceof Error ? error.message : '';
  return !deadline.signal.aborted && /Target (?:page|crashed)|Page crashed/.test(message);
}

/** Returns the refusal of the proxy, if it answered instead of the server. */
async function refusalIn(
  response: Response,
  proxyMark: string,
  deadline: Deadline,
): Promise<string | undefined> {
  if (!isOfProxy(response, proxyMark)) return undefined;
  const text = await deadline.race(response.text().catch(() => ''));
  return oneLine(text, 500) || 'the proxy refused it';
}

/**
 * Whether an answer is the proxy's own. A hostile site can read the mark in an answer of the proxy
 * and send it itself. Over http, the proxy removes the mark. It can't remove it in a tunnel or from
 * a worker, so those answers do not count.
 */
export function isOfProxy(
  response: Pick<Response, 'fromServiceWorker' | 'headers' | 'url'>,
  proxyMark: string,
): boolean {
  if (response.fromServiceWorker() || !/^http:/i.test(response.url())) return false;
  return response.headers()[MARK_HEADER] === proxyMark;
}
