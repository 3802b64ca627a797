import { oneLine } from '@ethosagent/policy';
import type { Dialog, Download, Page, Request } from 'playwright-core';
import type { ConsoleLog } from './console-log.js';
import type { Notices } from './notices.js';

/** Receives the events of a page. */
export interface PageWatcher {
  readonly notices: Notices;
  readonly console: ConsoleLog;
  /** Takes a download if a call waits for one. @returns whether it took it */
  takeDownload(download: Download): boolean;
  /** Called when the main frame shows another document, or another place in it. */
  onMove(page: Page): void;
  /** Called when another frame of the page shows another document. */
  onFrame(page: Page): void;
  onDialog(page: Page, dialog: Dialog): void;
  onCrash(page: Page): void;
}

/** The notice for a page that asks for a file. */
export const ASKED_FOR_FILE =
  'The page asked for a file, and got none; give one with browser_upload.';

const URL_CHARS = 150;

/** Handles what a page asks its user, and records events that no answer would report otherwise. */
export function watchPage(page: Page, watcher: PageWatcher): void {
  const { notices } = watcher;
  page.on('dialog', (dialog) => watcher.onDialog(page, dialog));
  page.on('console', (message) => watcher.console.add(message.type(), message.text()));
  page.on('pageerror', (error) => watcher.console.add('error', `uncaught: ${error.message}`));
  page.on('crash', () => watcher.onCrash(page));
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) watcher.onMove(page);
    else watcher.onFrame(page);
  });
  // With a listener, the browser does not open its own file chooser.
  page.on('filechooser', () => {
    notices.add(ASKED_FOR_FILE);
  });
  page.on('download', (download) => {
    if (watcher.takeDownload(download)) return;
    download.cancel().catch(() => {});
    notices.add(
      `The page offered the file ${JSON.stringify(oneLine(download.suggestedFilename(), 80))} to download; it was not taken. Use browser_download to save it.`,
    );
  });
  page.on('requestfailed', (request) => noteFailure(request, notices));
}

/** Adds a notice when the proxy refused a tunnel: the host is not allowed, or can't be reached. */
function noteFailure(request: Request, notices: Notices): void {
  const failure = request.failure()?.errorText ?? '';
  if (!failure.includes('ERR_TUNNEL_CONNECTION_FAILED') || request.isNavigationRequest()) return;
  const { host } = new URL(request.url());
  notices.add(`The page could not reach ${oneLine(host, URL_CHARS)}: not allowed, or no answer.`);
}
