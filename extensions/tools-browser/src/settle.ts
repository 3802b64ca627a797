import type { Page, Request } from 'playwright-core';
import type { PageCall } from './call-browser.js';

const GRACE_MS = 150;
const NEW_DOCUMENT_MS = 10_000;
const REST_MS = 1_500;
const NEW_TAB_MS = 5_000;
const POLL_MS = 25;

/** Runs an action on a page, and waits for its effect: another document, or a redraw. */
export async function andSettle(
  { session, page, deadline }: PageCall,
  work: () => Promise<unknown>,
): Promise<void> {
  let isLeaving = false;
  const onRequest = (request: Request) => {
    if (request.isNavigationRequest() && !isOfFrame(request)) isLeaving = true;
  };
  page.on('request', onRequest);
  try {
    await session.act(async () => {
      await work();
      await deadline.sleep(Math.min(GRACE_MS, deadline.leftMs()));
      const last = Date.now() + Math.min(NEW_TAB_MS, deadline.leftMs() / 2);
      while (session.expectsTab && Date.now() < last) await deadline.sleep(POLL_MS);
      session.forgetTabs();
    });
  } finally {
    page.off('request', onRequest);
  }
  const shown = session.page;
  if (shown === undefined) return;
  if (isLeaving || shown !== page)
    await waitForLoad(shown, deadline, { state: 'domcontentloaded', atMostMs: NEW_DOCUMENT_MS });
  await waitForLoad(shown, deadline, { state: 'load', atMostMs: REST_MS });
}

/** Waits a limited time for a page to load. When the time is over, the page is used as it is. */
export async function waitForLoad(
  page: Page,
  deadline: PageCall['deadline'],
  { state, atMostMs }: { state: 'domcontentloaded' | 'load'; atMostMs: number },
): Promise<void> {
  const timeout = Math.min(atMostMs, deadline.leftMs() / 2);
  await deadline.race(page.waitForLoadState(state, { timeout }).catch(() => {}));
}

function isOfFrame(request: Request): boolean {
  try {
    return request.frame().parentFrame() !== null;
  } catch {
    // A document that has no frame yet is a new one of the page.
    return false;
  }
}
