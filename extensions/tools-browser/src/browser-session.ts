import type { NetworkPolicy, ServiceScope } from '@ethosagent/types';
import type { Dialog, Download, Page } from 'playwright-core';
import type { BrowserSettings } from './browser-settings.js';
import { ConsoleLog } from './console-log.js';
import type { Deadline } from './deadline.js';
import { HeldDialogs } from './held-dialogs.js';
import { SeenSecrets } from './hidden-values.js';
import { NetworkLog } from './network-log.js';
import { Notices } from './notices.js';
import { PageDocument } from './page-document.js';
import type { RefNames } from './ref-names.js';
import type { RunningChromium } from './start-chromium.js';
import { answers, closeQuietly, Tabs } from './tabs.js';
import { type PageWatcher, watchPage } from './watch-page.js';

/** The browser of one session: its tabs, one of which is shown, and what they reported. */
export class BrowserSession implements PageWatcher {
  readonly notices = new Notices();
  readonly console = new ConsoleLog();
  readonly network = new NetworkLog();
  readonly dialogs: HeldDialogs;
  readonly #secrets = new SeenSecrets();
  readonly #scope: ServiceScope;
  readonly #chromium: RunningChromium;
  readonly #tabs = new Tabs();
  readonly #crashed = new WeakSet<Page>();
  readonly #names: RefNames;
  #document: PageDocument;
  #moves = 0;
  /** The number of tabs that pages opened. Chromium counts them earlier than the library. */
  #opened = 0;
  #acting = 0;
  /** Tabs that appeared while the tool opens one. */
  #opening: Page[] | undefined;
  #awaited: ((download: Download) => void) | undefined;
  #taken: Download | undefined;
  readonly #tooLarge = new WeakSet<Download>();
  #idle: NodeJS.Timeout | undefined;

  /** @param names the source of refs, none of which a browser of this session had before */
  constructor(scope: ServiceScope, chromium: RunningChromium, names: RefNames) {
    this.#scope = scope;
    this.#names = names;
    this.#document = new PageDocument(names.ofDocument());
    this.#chromium = chromium;
    this.dialogs = new HeldDialogs({
      notices: this.notices,
      nextRef: () => this.#document.newRef(),
      secrets: () => this.secrets,
    });
    chromium.onCommit(() => {
      this.dialogs.isHolding = true;
    });
    // The browser does not close while a dialog of a page is open.
    scope.onEnd(() => this.#stopAsking());
    chromium.context.on('page', (page) => this.#onPage(page));
    chromium.onLargeDownload(() => {
      if (this.#taken === undefined) return;
      this.#tooLarge.add(this.#taken);
      this.#taken.cancel().catch(() => {});
    });
  }

  /** Fires when the browser has ended, for any reason. */
  get gone(): AbortSignal {
    return this.#chromium.gone;
  }

  /** The tab that is shown; `undefined` when there is none. */
  get page(): Page | undefined {
    return this.#tabs.shown;
  }

  /** All tabs, in the order in which they were opened. */
  get tabs(): readonly Page[] {
    return this.#tabs.all;
  }

  get hasCrashed(): boolean {
    return this.page !== undefined && this.#crashed.has(this.page);
  }

  /**
   * The document of the shown tab. Each has its own object, so a ref never fits a later document.
   */
  get document(): PageDocument {
    return this.#document;
  }

  /** How often the shown tab went to another address, even within a document. */
  get moves(): number {
    return this.#moves;
  }

  /** Checks whether the tab shows another document. If so, the old refs become invalid. */
  async settleDocument(deadline: Deadline): Promise<void> {
    const document = this.#document;
    if (!document.mayBeGone) return;
    document.mayBeGone = false;
    if (await document.isThere(deadline)) return;
    if (this.#document === document) this.#newDocument();
  }

  /** Whether the browser was started under the same policy as this call. */
  isFor({ networkPolicy }: { networkPolicy?: NetworkPolicy | undefined }): boolean {
    return this.#scope.isCurrent(networkPolicy === undefined ? {} : { networkPolicy });
  }

  /** The mark of answers that the proxy itself gives. */
  get proxyMark(): string {
    return this.#chromium.proxyMark;
  }

  /** Values of password fields, the latest last. A later address or title may contain them. */
  get secrets(): readonly string[] {
    return this.#secrets.values;
  }

  remember(secrets: readonly string[]): void {
    this.#secrets.add(secrets);
  }

  /** The number of messages of the browser that were too large. */
  get oversized(): number {
    return this.#chromium.oversized;
  }

  /** Returns a tab that responds: the shown one, or a new one that replaces it. */
  async freshPage(): Promise<Page> {
    const { page } = this;
    if (page !== undefined && !this.hasCrashed && (await answers(page))) return page;
    this.closePage();
    // Tabs that opened one another share a process, so they crash together.
    while (this.hasCrashed) this.closePage();
    return this.page ?? this.#open();
  }

  /** Closes the tab that is shown. */
  closePage(): void {
    if (this.page !== undefined) this.closeTab(this.page);
  }

  closeTab(page: Page): void {
    if (!this.tabs.includes(page)) return;
    const wasShown = page === this.page;
    if (wasShown) this.dialogs.dismiss();
    this.#tabs.close(page);
    if (wasShown) this.#newDocument();
  }

  showTab(page: Page): void {
    if (page === this.page) return;
    this.dialogs.dismiss();
    this.#tabs.show(page);
    this.#newDocument();
  }

  /**
   * Opens an empty tab and shows it; `undefined` when there are already as many tabs as allowed.
   */
  async newTab(): Promise<Page | undefined> {
    if (this.#tabs.isFull) return undefined;
    this.dialogs.dismiss();
    return this.#open();
  }

  /** Whether a page has opened a tab that has not appeared yet, and that would be shown. */
  get expectsTab(): boolean {
    return !this.#tabs.isFull && this.#opened < this.#chromium.tabsOpened;
  }

  /** Stops waiting for tabs that do not come. */
  forgetTabs(): void {
    this.#opened = this.#chromium.tabsOpened;
  }

  /** Runs an action that may open a tab. A tab that a page opens at another time is closed. */
  async act<T>(work: () => Promise<T>): Promise<T> {
    this.#acting += 1;
    try {
      return await work();
    } finally {
      this.#acting -= 1;
    }
  }

  /** Waits for the next download. Call `stop` to end the wait. */
  awaitDownload(): { download: Promise<Download>; stop: () => void } {
    const download = new Promise<Download>((resolve) => {
      this.#awaited = resolve;
    });
    return {
      download,
      stop: () => {
        this.#awaited = undefined;
        this.#taken = undefined;
      },
    };
  }

  takeDownload(download: Download): boolean {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    if (awaited === undefined) return false;
    this.#taken = download;
    awaited(download);
    return true;
  }

  /** Whether a download was cancelled because it was too large. */
  tookTooMuch(download: Download): boolean {
    return this.#tooLarge.has(download);
  }

  get maxDownloadBytes(): number {
    return this.#chromium.maxDownloadBytes;
  }

  onMove(page: Page): void {
    if (page !== this.page) return;
    this.#moves += 1;
    this.#document.mayBeGone = true;
    this.dialogs.dismiss();
  }

  onFrame(page: Page): void {
    if (page === this.page) this.#document.onFrame();
  }

  onDialog(page: Page, dialog: Dialog): void {
    this.dialogs.add(dialog, page === this.page);
  }

  onCrash(page: Page): void {
    this.#crashed.add(page);
  }

  /** Restarts the time without a call after which `onIdle` is called. */
  touch({ idle_ms }: BrowserSettings, onIdle: () => void): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(onIdle, idle_ms);
    this.#idle.unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#scope.end();
  }

  async #open(): Promise<Page> {
    const came: Page[] = [];
    this.#opening = came;
    let page: Page | undefined;
    try {
      page = await this.#chromium.context.newPage();
      this.#take(page);
      return page;
    } finally {
      this.#opening = undefined;
      for (const other of came) if (other !== page) this.#onPage(other);
    }
  }

  #onPage(page: Page): void {
    if (this.tabs.includes(page)) return;
    // Only when the library gives the tab, it is known whether it was asked for.
    if (this.#opening !== undefined) {
      this.#opening.push(page);
      return;
    }
    this.#opened += 1;
    if (this.#acting === 0 || this.#tabs.isFull) {
      closeQuietly(page, () => this.page);
      this.notices.add('The page opened a new tab, which was closed.');
      return;
    }
    this.notices.add('A new tab was opened and is shown now; browser_back leaves it.');
    this.#take(page);
  }

  #take(page: Page): void {
    this.#tabs.add(page);
    this.#newDocument();
    this.network.watch(page);
    watchPage(page, this);
    page.on('close', () => this.closeTab(page));
  }

  #newDocument(): void {
    this.#moves += 1;
    this.#document = new PageDocument(this.#names.ofDocument());
  }

  #stopAsking(): void {
    this.dialogs.isHolding = false;
    this.dialogs.dismiss();
  }
}
