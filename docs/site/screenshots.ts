// `pnpm docs:screenshots FOLDER`: pictures of the site, for somebody who looks at it after a change.
// `pnpm docs:build` makes the site before.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { REPOSITORY } from '../tooling/markdown.js';
import { serveSite } from './serve-site.js';
import { startChromium } from './start-chromium.js';

interface Picture {
  name: string;
  path: string;
  scheme?: 'light' | 'dark';
  isPhone?: boolean;
  /** What a reader does before the picture is taken. */
  act?(page: Page): Promise<void>;
}

const HOME = '';
const REFERENCE = 'docs/reference/capabilities.html';
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const PICTURES: readonly Picture[] = [
  { name: 'home-light', path: HOME },
  { name: 'home-dark', path: HOME, scheme: 'dark' },
  { name: 'reference-light', path: REFERENCE },
  { name: 'reference-dark', path: REFERENCE, scheme: 'dark' },
  { name: 'search-light', path: HOME, act: search },
  { name: 'search-dark', path: HOME, scheme: 'dark', act: search },
  { name: 'phone-home', path: HOME, isPhone: true },
  { name: 'phone-reference', path: REFERENCE, isPhone: true },
  { name: 'phone-menu', path: REFERENCE, isPhone: true, act: openMenu },
];

const [, , target] = process.argv;
if (target === undefined) throw new Error('name the folder for the pictures');
const folder = resolve(target);
const built = join(REPOSITORY, 'docs/.vitepress/dist');
if (!existsSync(built)) throw new Error('there is no site yet: run `pnpm docs:build` first');

mkdirSync(folder, { recursive: true });
const site = await serveSite(built);
const browser = await startChromium();
try {
  for (const picture of PICTURES) {
    const file = join(folder, `${picture.name}.png`);
    await take(picture, file);
    process.stdout.write(`${file}\n`);
  }
} finally {
  await browser.close();
  site.close();
}

async function take({ path, scheme, isPhone, act }: Picture, file: string): Promise<void> {
  const viewport = isPhone ? PHONE : DESK;
  const context = await browser.newContext({
    colorScheme: scheme ?? 'light',
    viewport,
    ...(isPhone && { deviceScaleFactor: 2, hasTouch: true, isMobile: true }),
  });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  await page.goto(`${site.origin}/${path}`, { waitUntil: 'networkidle' });
  if (act === undefined) {
    // The menu beside the page is as high as the window.
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ ...viewport, height });
  } else {
    await act(page);
  }
  await page.screenshot({ path: file, animations: 'disabled' });
  await context.close();
}

async function search(page: Page): Promise<void> {
  await page.locator('.DocSearch-Button').click();
  await page.locator('#localsearch-input').fill('sandbox');
  await page.locator('.result').first().waitFor();
}

async function openMenu(page: Page): Promise<void> {
  await page.locator('.VPLocalNav .menu').click();
  await page.locator('.VPSidebar.open').waitFor();
}
