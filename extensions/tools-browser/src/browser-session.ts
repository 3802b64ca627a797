import type { NetworkPolicy, ServiceScope } from '@ethosagent/types';
import type { Download, Page } from 'playwright-core';
import type { BrowserSettings } from './browser-settings.js';
import { ConsoleLog } from './console-log.js';
import { Notices } from './notices.js';
import { isOfFrame, type KnownNode } from './page-tree.js';
import type { RunningChromium } from './start-chromium.js';
import { type PageWatcher, watchPage } from './watch-page.js';

const MAX_TABS = 4;
const MAX_SECRETS = 100;

/** The browser of one session: its tabs, of which the last is shown, and what they reported. */
export class BrowserSession implements PageWatcher {
  readonly notices = new Notices();
  readonly console = new ConsoleLog();
  /** The elements of the last snapshot, by their refs. */
  known = new Map<string, KnownNode>();
  readonly #secrets = new Set<string>();
  readonly #scope: ServiceScope;
  readonly #chromium: RunningChromium;
  readonly #tabs: Page[] = [];
  readonly #crashed = new WeakSet<Page>();
  readonly #nextDocument: () => string;
  #document: string;
  #frames = 0;
  /** Tabs that pages opened, of those that Chromium counted. */
  #opened = 0;
  #acting = 0;
  #isOpening = false;
  #awaited: ((download: Download) => void) | undefined;
  #taken: Download | undefined;
  readonly #tooLarge = new WeakSet<Download>();
  #idle: NodeJS.Timeout | undefined;

  /** @param nextDocument gives names that no browser was given before */
  constructor(scope: ServiceScope, chromium: RunningChromium, nextDocument: () => string) {
    this.#scope = scope;
    this.#nextDocument = nextDocument;
    this.#document = nextDocument();
    this.#chromium = chromium;
    chromium.context.on('page', (page) => this.#onPage(page));
    chromium.onLargeDownload(() => {
      if (this.#taken === undefined) return;
      this.#tooLarge.add(this.#taken);
      this.#taken.cancel().catch(() => {});
    });
  }

  /** Fires when the browser has ended, for whatever reason. */
  get gone(): AbortSignal {
    return this.#chromium.gone;
  }

  /** The tab that is shown, unless there is none. */
  get page(): Page | undefined {
    return this.#tabs.at(-1);
  }

  get hasCrashed(): boolean {
    return this.page !== undefined && this.#crashed.has(this.page);
  }

  /** Tells documents apart: refs of an earlier one, of this browser or another, fit no later one. */
  get documentName(): string {
    return this.#document;
  }

  /** Tells the documents apart that the frames of one document show, one after another. */
  get frameNumber(): number {
    return this.#frames;
  }

  /** Whether its pages may reach what those of a call with this policy may. */
  isFor({ networkPolicy }: { networkPolicy?: NetworkPolicy | undefined }): boolean {
    return this.#scope.isCurrent(networkPolicy === undefined ? {} : { networkPolicy });
  }

  /** The value by which answers of the proxy itself are known. */
  get proxyMark(): string {
    return this.#chromium.proxyMark;
  }

  /** What was in password fields, the latest last: a later address or title may hold it. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  remember(secrets: readonly string[]): void {
    for (const secret of secrets) {
      this.#secrets.delete(secret);
      this.#secrets.add(secret);
    }
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= MAX_SECRETS) break;
      this.#secrets.delete(oldest);
    }
  }

  /** How often the browser had more to say than is taken. */
  get oversized(): number {
    return this.#chromium.oversized;
  }

  /** A tab that answers: the one that is shown, or a new one in its place. */
  async freshPage(): Promise<Page> {
    const { page } = this;
    if (page !== undefined && !this.hasCrashed && (await answers(page))) return page;
    this.closePage();
    return this.page ?? this.#open();
  }

  /** Closes the tab that is shown. */
  closePage(): void {
    if (this.page !== undefined) this.#drop(this.page);
  }

  /** Closes the tab that is shown; says whether there is another. */
  closeTab(): boolean {
    if (this.page !== undefined && this.#tabs.length > 1) {
      this.#drop(this.page);
      this.#newDocument();
      return true;
    }
    return false;
  }

  /** Whether a page has opened a tab that is not there yet, and that would be shown. */
  get expectsTab(): boolean {
    return this.#tabs.length < MAX_TABS && this.#opened < this.#chromium.tabsOpened;
  }

  /** Stops expecting those that do not come. */
  forgetTabs(): void {
    this.#opened = this.#chromium.tabsOpened;
  }

  /** Runs what may open a tab on purpose. */
  async act<T>(work: () => Promise<T>): Promise<T> {
    this.#acting += 1;
    try {
      return await work();
    } finally {
      this.#acting -= 1;
    }
  }

  /** Waits for the next download; `stop` when there is none. */
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

  /** Whether a download was ended because it was too large. */
  tookTooMuch(download: Download): boolean {
    return this.#tooLarge.has(download);
  }

  get maxDownloadBytes(): number {
    return this.#chromium.maxDownloadBytes;
  }

  onDocument(page: Page): void {
    if (page === this.page) this.#newDocument();
  }

  onFrame(page: Page): void {
    if (page !== this.page) return;
    this.#frames += 1;
    for (const [ref, node] of this.known) if (isOfFrame(node)) this.known.delete(ref);
  }

  onCrash(page: Page): void {
    this.#crashed.add(page);
  }

  /** Closes the browser after a while without a call. */
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
    // `#onPage` is told of it first, and takes it as it is asked for.
    this.#isOpening = true;
    try {
      return await this.#chromium.context.newPage();
    } finally {
      this.#isOpening = false;
    }
  }

  #onPage(page: Page): void {
    const isOurs = this.#isOpening && this.#tabs.length === 0;
    if (!isOurs) this.#opened += 1;
    if (!isOurs && (this.#acting === 0 || this.#tabs.length >= MAX_TABS)) {
      page
        .close()
        .then(() => this.page?.bringToFront())
        .catch(() => {});
      this.notices.add('The page opened a new tab, which was closed.');
      return;
    }
    if (!isOurs) {
      this.notices.add('A new tab was opened and is shown now; browser_back leaves it.');
    }
    this.#tabs.push(page);
    this.#newDocument();
    watchPage(page, this);
    page.on('close', () => this.#drop(page));
  }

  #drop(page: Page): void {
    const at = this.#tabs.indexOf(page);
    if (at === -1) return;
    const wasShown = page === this.page;
    this.#tabs.splice(at, 1);
    if (wasShown) this.#newDocument();
    // One that is behind another is not drawn.
    page
      .close()
      .then(() => this.page?.bringToFront())
      .catch(() => {});
  }

  #newDocument(): void {
    this.#document = this.#nextDocument();
    this.known = new Map();
  }
}

/** Whether the page's own thread does anything at all. */
async function answers(page: Page): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), 1_500);
  });
  const asked = page
    .evaluate(() => true)
    .then(
      () => true,
      () => false,
    );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
