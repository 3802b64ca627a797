import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildPage } from './fixtures/build-page.js';
import { callEvents, openInspectedHome } from './fixtures/inspected-home.js';
import {
  axeProblems,
  openInspector,
  type RunningInspector,
  startChromium,
  watchPage,
} from './fixtures/open-inspector.js';

let browser: Browser;
let world: ReturnType<typeof openInspectedHome>;
let inspector: RunningInspector | undefined;
beforeAll(async () => {
  await buildPage();
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(() => {
  world = openInspectedHome();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await inspector?.stop();
  inspector = undefined;
  world.remove();
});

/** Focuses a table after its first row has appeared. Before that, a key would choose nothing. */
async function focusRows(page: Page, name: string): Promise<void> {
  const grid = page.getByRole('grid', { name });
  await grid.getByRole('gridcell').filter({ hasNotText: '…' }).first().waitFor();
  await grid.focus();
}

/** Each view, with something chosen in it. */
const VIEWS: readonly (readonly [name: string, use: (page: Page) => Promise<void>])[] = [
  [
    'Reach',
    async (page) => {
      await page
        .getByRole('button', { name: /Why\?$/ })
        .first()
        .click();
      await page.getByText('The personality says').waitFor();
    },
  ],
  [
    'Live calls',
    async (page) => {
      await focusRows(page, 'Calls');
      for (let row = 0; row < 3; row += 1) await page.keyboard.press('ArrowDown');
      await page.getByRole('heading', { name: 'Accesses' }).waitFor();
    },
  ],
  [
    'Sessions',
    async (page) => {
      await page.getByRole('row', { name: /talk/ }).click();
      await page.getByText('a page from elsewhere').first().waitFor();
    },
  ],
  [
    'Approvals',
    async (page) => {
      await page.getByText('Change the arguments').click();
      const edit = page.getByLabel('The arguments as JSON');
      await edit.fill((await edit.inputValue()).replace('two', 'three'));
      await page.locator('.diff-line.new').waitFor();
    },
  ],
  [
    'Audit log',
    async (page) => {
      await focusRows(page, 'Events');
      await page.keyboard.press('ArrowDown');
      await page.getByText('In the log').waitFor();
      await page.getByRole('button', { name: 'Verify' }).click();
      // The second log was not written with the key of the home.
      await page.getByText(/\d problems?\./).waitFor();
    },
  ],
  [
    'Reach lock',
    async (page) => {
      await page.getByText('gains').first().waitFor();
    },
  ],
];

describe.runIf(isLongRun()).each(['light', 'dark'] as const)(
  'axe finds nothing in %s',
  (colorScheme) => {
    const screens: [string, { width: number; height: number }][] = [
      ['on a wide screen', { width: 1280, height: 800 }],
      ['on a narrow one', { width: 420, height: 900 }],
    ];
    const isSeen = ([name]: (typeof screens)[number]) =>
      name === 'on a wide screen' && colorScheme === 'light';
    // `inspect-page.test.ts` opens the others.
    const views = inCheck(VIEWS, ([name]) => !['Live calls', 'Approvals'].includes(name));
    it.each(inCheck(screens, isSeen))('%s', async (_, viewport) => {
      await world.run(['lock']);
      world.widen();
      world.writeLog(callEvents(40));
      await world.run(['run', 'read_file {"path":"notes/a.txt"}', '--session', 'talk']);
      await world.run([
        ...['run', 'write_file {"path":"notes/c.txt","content":"one\\ntwo\\n"}'],
        ...['--session', 'talk'],
      ]);
      inspector = await openInspector(world);
      const options = { colorScheme, viewport, bypassCSP: true };
      const { page } = await watchPage(browser, inspector.origin, options);
      await page.goto(inspector.url);
      const problems: Record<string, string[]> = {};
      for (const [name, use] of views) {
        await page.getByRole('link', { name: new RegExp(`^${name}( \\d|$)`) }).click();
        await page.getByRole('heading', { name, level: 1 }).waitFor();
        await use(page);
        problems[name] = await axeProblems(page);
      }
      expect(problems).toEqual(Object.fromEntries(views.map(([name]) => [name, []])));
    });

    it.runIf(isLongRun() || colorScheme === 'dark')('on the page of reach --html', async () => {
      const { out } = await world.run(['reach', '--html']);
      const file = join(world.cwd, 'reach.html');
      writeFileSync(file, out);
      const { page } = await watchPage(browser, 'null', { colorScheme, bypassCSP: true });
      await page.goto(pathToFileURL(file).href);
      await page
        .getByRole('button', { name: /Why\?$/ })
        .first()
        .click();
      expect(await axeProblems(page)).toEqual([]);
    });
  },
);

describe('axe', () => {
  it.runIf(isLongRun())('would find what is wrong', async () => {
    const { page } = await watchPage(browser, 'null');
    await page.setContent('<title>t</title><p style="color:#ccc">pale</p><input>');
    const found = (await axeProblems(page)).join('\n');
    expect(found).toContain('color-contrast');
    expect(found).toContain('label');
  });
});
