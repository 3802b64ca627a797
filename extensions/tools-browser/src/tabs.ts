import type { Page } from 'playwright-core';
import { within } from './within.js';

/** How many tabs a browser may have. */
export const MAX_TABS = 8;

const ANSWER_MS = 1_500;

/** The tabs of a browser. One of them is shown. */
export class Tabs {
  readonly #pages: Page[] = [];
  #shown: Page | undefined;

  get shown(): Page | undefined {
    return this.#shown;
  }

  get all(): readonly Page[] {
    return this.#pages;
  }

  get isFull(): boolean {
    return this.#pages.length >= MAX_TABS;
  }

  add(page: Page): void {
    this.#pages.push(page);
    this.#shown = page;
  }

  show(page: Page): void {
    this.#shown = page;
    page.bringToFront().catch(() => {});
  }

  /** Closes a tab. If it was the shown one, the last of the others is shown. */
  close(page: Page): void {
    const at = this.#pages.indexOf(page);
    if (at === -1) return;
    this.#pages.splice(at, 1);
    if (this.#shown === page) this.#shown = this.#pages.at(-1);
    closeQuietly(page, () => this.#shown);
  }
}

/** Closes a page and brings the next one to the front, because Chromium does not draw pages in the background. */
export function closeQuietly(page: Page, next: () => Page | undefined): void {
  page
    .close()
    .then(() => next()?.bringToFront())
    .catch(() => {});
}

/** Whether the thread of the page responds. */
export async function answers(page: Page): Promise<boolean> {
  const asked = page
    .evaluate(() => true)
    .then(
      () => true,
      () => false,
    );
  return (await within(ANSWER_MS, asked)) ?? false;
}
