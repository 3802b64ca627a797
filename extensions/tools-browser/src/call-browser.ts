import { err, ok } from '@ethosagent/plugin-sdk';
import { oneLine } from '@ethosagent/policy';
import type { ToolContext, ToolResult } from '@ethosagent/types';
import type { Locator, Page } from 'playwright-core';
import { awaitReady, type ElementAction } from './await-ready.js';
import { browserFailure } from './browser-failure.js';
import type { BrowserHub } from './browser-hub.js';
import type { BrowserSession } from './browser-session.js';
import type { BrowserSettings } from './browser-settings.js';
import { changedLines } from './changed-lines.js';
import { createDeadline, type Deadline } from './deadline.js';
import { signatureOf } from './element-signature.js';
import { toldDialog } from './held-dialogs.js';
import { renderChanges, renderSnapshot } from './render-snapshot.js';
import { elementNow, takeSnapshot } from './snapshot.js';

/** The part of the tool context that every tool of the browser uses. */
export type BrowserContextOfCall = Pick<
  ToolContext,
  'abortSignal' | 'networkPolicy' | 'personalityId' | 'resultBudgetChars' | 'sessionId'
> & { settings: BrowserSettings };

export interface OnPageOptions {
  ctx: BrowserContextOfCall;
  totalMs: number;
  /** Whether the call answers a dialog of the page, or leaves the page. */
  answers?: boolean;
}

/** What a call works with during its turn. */
export interface PageCall {
  session: BrowserSession;
  page: Page;
  deadline: Deadline;
}

export const NO_PAGE = 'No page is open. Open one with browser_navigate.';

const NOTES_SHARE = 0.2;
/** How long a call waits for its turn at most. */
const MAX_WAIT_MS = 360_000;
const NEVER = new AbortController().signal;

/** Runs a call on the shown page when its turn comes. */
export async function onPage(
  hub: BrowserHub,
  { ctx, totalMs, answers = false }: OnPageOptions,
  work: (call: PageCall) => Promise<ToolResult>,
): Promise<ToolResult> {
  return inTurn(hub, ctx, async (race) => {
    const session = await race(hub.running(ctx));
    if (session === undefined) {
      const reason = hub.takeReason(ctx);
      return err(reason === undefined ? NO_PAGE : `${NO_PAGE} ${reason}`);
    }
    const deadline = createDeadline(totalMs, ctx.abortSignal, session.gone);
    try {
      if (session.hasCrashed) {
        return err('The page has crashed. Open it again with browser_navigate.');
      }
      const { page } = session;
      if (page === undefined) return err(NO_PAGE);
      const { held } = session.dialogs;
      if (held !== undefined && !answers) return withNotices(session, err(toldDialog(held)));
      const result = await untilDialog(session, deadline, () => work({ session, page, deadline }));
      return withNotices(session, result);
    } catch (error) {
      return withNotices(session, browserFailure(error, deadline));
    } finally {
      deadline.clear();
      hub.touch(ctx, ctx.settings);
    }
  });
}

/**
 * Runs the action of a call until the page opens a dialog. A page with a dialog stands still, so
 * the call then answers with the question of the dialog.
 */
export async function untilDialog<T>(
  session: BrowserSession,
  deadline: Deadline,
  work: () => Promise<T>,
): Promise<T | ToolResult> {
  const { whenOpen, stop } = session.dialogs.opened();
  try {
    const result = await deadline.race(Promise.race([work(), whenOpen]));
    if (result !== 'dialog') return result;
    const { held } = session.dialogs;
    deadline.interrupt();
    return held === undefined
      ? err('The page asked something, and went away. Take a new browser_snapshot.')
      : ok(`${toldDialog(held)} What the call had left to do was not done.`, {
          structured: { dialog: { ref: held.ref, text: held.text } },
        });
  } finally {
    stop();
  }
}

/** Runs a call when its turn comes. Each earlier call takes at most its own time limit. */
export async function inTurn<T>(
  hub: BrowserHub,
  ctx: Pick<BrowserContextOfCall, 'abortSignal' | 'personalityId' | 'sessionId'>,
  work: (race: <W>(waiting: Promise<W>) => Promise<W>) => Promise<T>,
): Promise<T> {
  const waiting = createDeadline(MAX_WAIT_MS, ctx.abortSignal, NEVER);
  try {
    return await hub.inTurn(ctx, waiting.signal, () => work(waiting.race));
  } finally {
    waiting.clear();
  }
}

/** Adds to an answer what happened on the page meanwhile. */
export function withNotices(session: BrowserSession, result: ToolResult): ToolResult {
  const notices = session.notices.take();
  if (notices.length === 0) return result;
  const notes = notices.map((notice) => `Note: ${notice}`).join('\n');
  return result.ok
    ? { ...result, value: `${notes}\n${result.value}` }
    : { ...result, error: `${result.error}\n${notes}` };
}

/**
 * Finds the element that a ref names, or says why there is none.
 *
 * @param action the action that the element must be ready for, if any
 */
export async function elementOf(
  { session, page, deadline }: PageCall,
  ref: string,
  action?: ElementAction,
): Promise<{ locator: Locator; name: string } | { failure: ToolResult }> {
  await session.settleDocument(deadline);
  const { document } = session;
  const node = document.known.get(ref);
  if (node === undefined) {
    return {
      failure: err(
        `There is no element ${oneLine(ref, 40)} in the last snapshot of this page: refs hold for one document. Take a new browser_snapshot and use a ref of it.`,
      ),
    };
  }
  const locator = page.getByRef(node.ref);
  const count = await deadline.race(locator.count().catch(() => 0));
  const name = `${node.role}${node.name === '' ? '' : ` ${JSON.stringify(node.name)}`}`;
  if (count === 0) {
    return {
      failure: err(
        `${name} (${ref}) is no longer on the page: it has changed since the snapshot. Take a new browser_snapshot and use a ref of it.`,
      ),
    };
  }
  // The attack: the page turns the chosen element into another one, even while the call waits for it.
  if (action !== undefined) await awaitReady(locator, action, deadline);
  const now = await elementNow({ session, page, deadline }, node.ref);
  await session.settleDocument(deadline);
  const isSame = now !== undefined && signatureOf(now) === signatureOf(node.node);
  if (isSame && session.document === document) return { locator, name };
  return {
    failure: err(
      `${name} (${ref}) is not what the snapshot showed any more: the page has changed what it says, is set to, or leads to. Nothing was done. Take a new browser_snapshot, and look whether you still want it.`,
    ),
  };
}

/** Returns the answer of a call that shows the page. */
export async function showPage(
  call: Pick<PageCall, 'session' | 'deadline'>,
  ctx: BrowserContextOfCall,
  options: {
    /** What the call did. Absent when the answer shows only the page. */
    said?: string;
    from?: number | undefined;
    /** Show only what has changed since the last answer, if that is shorter. */
    onlyChanges?: boolean;
    structured?: Record<string, unknown>;
  },
): Promise<ToolResult> {
  const { document, snapshot } = await takeSnapshot(call.session, call.deadline);
  const { url, title } = snapshot;
  const { shown: before } = document;
  document.shown = { lines: snapshot.lines, url, title };
  const changes =
    before === undefined || options.onlyChanges !== true || call.session.document !== document
      ? undefined
      : changedLines(before.lines, snapshot.lines);
  const isSame = changes !== undefined && before?.url === url && before.title === title;
  const head = [
    options.said ?? '',
    ...(isSame
      ? []
      : [`URL: ${oneLine(url, 500)}`, `Title: ${JSON.stringify(oneLine(title, 200))}`]),
  ].filter((line) => line !== '');
  const budget = Math.min(ctx.settings.max_chars, ctx.resultBudgetChars);
  const notes = Math.min(2_000, budget * NOTES_SHARE);
  const maxChars = Math.max(200, budget - head.join('\n').length - notes);
  const structured = { ...options.structured, url, title, totalLines: snapshot.lines.length };
  if (changes !== undefined) {
    const text = renderChanges(changes, maxChars);
    return ok([...head, text].join('\n'), {
      structured: { ...structured, isPartial: snapshot.isPartial, onlyChanges: true },
    });
  }
  const shown = renderSnapshot(snapshot, { from: options.from, maxChars });
  return ok([...head, shown.text].join('\n'), {
    structured: {
      ...structured,
      firstLine: shown.firstLine,
      lastLine: shown.lastLine,
      isPartial: snapshot.isPartial,
    },
  });
}
