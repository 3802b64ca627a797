import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { isLongRun } from '@ethosagent/test-support';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedSite, serveSite } from './site/serve-site.js';
import { startChromium } from './site/start-chromium.js';
import { blocksOf } from './tooling/blocks.js';
import { relativeLinks } from './tooling/links.js';
import { parsePage, REPOSITORY, readPage } from './tooling/markdown.js';

// Building the site takes a minute of processor time.
describe.runIf(isLongRun())('the site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  let site: ServedSite;
  let browser: Browser;
  let pages: string[];
  const visits: BrowserContext[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    await runInDocs('node_modules/vitepress/bin/vitepress.js', 'build', '--outDir', folder);
    site = await serveSite(folder);
    browser = await startChromium();
    pages = filesIn(folder).filter((path) => path.endsWith('.html') && path !== '404.html');
  });
  afterAll(async () => {
    for (const context of visits) await context.close();
    await browser?.close();
    site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(
    path: string,
    colorScheme: 'light' | 'dark' = 'light',
    width = 1280,
  ): Promise<Page> {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    // There is no time limit for a busy machine. The test runner ends a page that hangs.
    context.setDefaultTimeout(0);
    context.on('request', (request) => requests.push(request.url()));
    visits.push(context);
    const page = await context.newPage();
    await page.goto(`${site.origin}/${path}`, { waitUntil: 'networkidle' });
    // The scripts of the page name this switch. They may begin after the network has fallen silent.
    const theme = page.locator('.VPSwitchAppearance:not([title=""])').first();
    await theme.waitFor({ state: 'attached' });
    return page;
  }

  it('is built by code that compiles', async () => {
    const { stdout } = await runInDocs('../node_modules/typescript/bin/tsc', '-p', '.vitepress');
    expect(stdout).toBe('');
  });

  it('has links that lead to a page, and to a heading of it', async () => {
    const page = await open('');
    const found = await readBuiltPages(page, pages);
    expect(pages.length).toBeGreaterThan(100);
    const headings = new Map(found.map(({ path, ids }) => [`/${path}`, new Set(ids)]));
    const broken = found.flatMap(({ path, links }) =>
      links
        .filter((link) => {
          const { origin, pathname, hash } = new URL(link);
          if (origin !== site.origin) return false;
          const file = decodeURI(pathname).replace(/\/$/, '/index.html');
          const isThere = existsSync(join(folder, file));
          return !isThere || (hash !== '' && !headings.get(file)?.has(decodeURI(hash.slice(1))));
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('says on its front page what the README says first', async () => {
    const page = await open('');
    const [, first = ''] =
      /\n\n([^#\n][\s\S]*?)\n\n/.exec(readPage(join(REPOSITORY, 'README.md')).text) ?? [];
    const shown = await page.locator('main p').first().textContent();
    expect(shown?.replaceAll('\n', ' ')).toBe(first.replaceAll('\n', ' '));
  });

  it.each(['README.md', 'docs/how-to/run-an-agent.md', 'docs/how-to/use-the-ai-sdk.md'])(
    'shows each output of %s as such, and nothing of what it says to its tests',
    async (path) => {
      const page = await open(path.replace('README.md', 'index.html').replace('.md', '.html'));
      const blocks = blocksOf(readPage(join(REPOSITORY, path)));
      const outputs = blocks
        .filter(({ marks }) => marks.has('output'))
        .map(({ code }) => code.trim());
      expect(outputs).not.toEqual([]);
      const shown = await page.locator('.output pre').allTextContents();
      expect(shown.map((text) => text.trim())).toEqual(outputs);
      expect(await page.locator('main').textContent()).not.toMatch(/<!--|-->/);
    },
  );

  it('finds a page by what stands in it', async () => {
    const page = await open('');
    await page.locator('.DocSearch-Button').click();
    await page.locator('#localsearch-input').fill('bubblewrap');
    const result = page.locator('.result', { hasText: 'Run processes in a sandbox' }).first();
    await result.click();
    await page.waitForURL(/\/docs\/how-to\/sandbox-processes\.html/);
    await page.locator('h1', { hasText: 'Run processes in a sandbox' }).waitFor();
  });

  it('lets a reader choose dark, and keeps to it', async () => {
    const page = await open('');
    const dark = page.locator('html.dark');
    expect(await dark.count()).toBe(0);
    await page.getByRole('switch', { name: 'Switch to dark theme' }).click();
    await dark.waitFor({ state: 'attached' });
    await page.goto(`${site.origin}/docs/reference/core.html`);
    expect(await dark.count()).toBe(1);
  });

  describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
    it.each([
      '',
      'docs/',
      'docs/how-to/run-an-agent.html',
      'docs/tutorials/first-denial.html',
      'docs/reference/capabilities.html',
      'docs/reference/core.html',
      'docs/source/examples/ai-sdk/src/main.ts.html',
    ])('is accessible: /%s', async (path) => {
      expect(await axeProblems(await open(path, scheme))).toEqual([]);
    });
  });

  it.each(['', 'docs/reference/capabilities.html', 'docs/reference/core.html'])(
    'fits a phone, with each command and message whole: /%s',
    async (path) => {
      const page = await open(path, 'light', 390);
      const cut = await page.evaluate<string[]>(`[
        document.documentElement,
        ...document.querySelectorAll(':is(.language-sh, .language-text) pre'),
      ].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)`);
      expect(cut).toEqual([]);
    },
  );

  it('has each page as Markdown, whose links hold, and a list of them', () => {
    const files = filesIn(folder).filter((path) => path.endsWith('.md'));
    const list = readFileSync(join(folder, 'llms.txt'), 'utf8');
    const listed = relativeLinks(parsePage('llms.txt', list)).map(({ url }) => url);
    expect(listed.filter((path) => !files.includes(path))).toEqual([]);
    expect(listed.length).toBeGreaterThan(100);
    const broken = files.flatMap((path) => {
      const page = parsePage(path, readFileSync(join(folder, path), 'utf8'));
      return relativeLinks(page).filter(({ url }) => {
        const [target = ''] = decodeURI(url).split('#');
        return target !== '' && !existsSync(join(folder, posix.join(dirname(path), target)));
      });
    });
    expect(broken).toEqual([]);
  });

  it('asked for nothing elsewhere', () => {
    expect(requests.length).toBeGreaterThan(100);
    expect(requests.filter((url) => !url.startsWith(`${site.origin}/`))).toEqual([]);
  });
});

function runInDocs(...command: readonly string[]) {
  return promisify(execFile)(process.execPath, command, { cwd: join(REPOSITORY, 'docs') });
}

/** What the browser says of a page as it was built. */
interface BuiltPage {
  path: string;
  ids: string[];
  links: string[];
}

async function readBuiltPages(page: Page, paths: readonly string[]): Promise<BuiltPage[]> {
  return page.evaluate<BuiltPage[]>(`Promise.all(${JSON.stringify(paths)}.map(async (path) => {
    const text = await (await fetch('/' + path)).text();
    const built = new DOMParser().parseFromString(text, 'text/html');
    return {
      path,
      ids: [...built.querySelectorAll('[id]')].map(({ id }) => id),
      links: [...built.querySelectorAll('a[href]')].map((link) =>
        new URL(link.getAttribute('href'), location.origin + '/' + path).href),
    };
  }))`);
}

/** What axe finds that is serious or worse: the rule, and where. */
async function axeProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`axe.run(document).then(({ violations }) => violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`);
}

/** Every file in a folder, from there on, with `/`. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [],
  );
}
