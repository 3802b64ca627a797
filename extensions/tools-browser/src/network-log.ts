import type { Page, Request } from 'playwright-core';

const MAX_ENTRIES = 300;

/** A request of a page. */
export interface NetworkEntry {
  /** The number of the request, counted from 1 over the whole session. */
  number: number;
  page: Page;
  request: Request;
  /** The HTTP status; absent while there is no answer. */
  status?: number;
  /** Why there is no answer. */
  failure?: string;
}

/** Keeps the last requests of the pages of a session. */
export class NetworkLog {
  readonly #entries: NetworkEntry[] = [];
  readonly #byRequest = new WeakMap<Request, NetworkEntry>();
  #count = 0;
  /** The number of the first request of the page that each tab shows. */
  readonly #begins = new WeakMap<Page, number>();

  /** Whether a request was made since this tab opened its page. */
  isOfPage({ number, page: tab }: NetworkEntry, page: Page): boolean {
    return tab === page && number >= (this.#begins.get(page) ?? 0);
  }

  get entries(): readonly NetworkEntry[] {
    return this.#entries;
  }

  /** The number of requests that are no longer kept. */
  get dropped(): number {
    return this.#count - this.#entries.length;
  }

  watch(page: Page): void {
    page.on('request', (request) => this.#add(page, request));
    page.on('response', (response) => {
      const entry = this.#byRequest.get(response.request());
      if (entry !== undefined) entry.status = response.status();
    });
    page.on('requestfailed', (request) => {
      const entry = this.#byRequest.get(request);
      if (entry !== undefined) entry.failure = request.failure()?.errorText ?? 'failed';
    });
  }

  #add(page: Page, request: Request): void {
    this.#count += 1;
    const entry = { number: this.#count, page, request };
    if (opensPage(request, page)) this.#begins.set(page, this.#count);
    this.#entries.push(entry);
    this.#byRequest.set(request, entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }
}

function opensPage(request: Request, page: Page): boolean {
  if (!request.isNavigationRequest() || request.redirectedFrom() !== null) return false;
  try {
    return request.frame() === page.mainFrame();
  } catch {
    // A document that has no frame yet is a new one of the page.
    return true;
  }
}
