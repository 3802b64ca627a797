import { inCheck, isLongRun, tries, withEnoughTime } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { PARAGRAPH } from './fixtures/article.js';
import { readHtml, SMALL_PAGE } from './read-html.js';
import { scanHtml } from './scan-html.js';

const URL_OF_PAGE = 'https://example.com/';
const never = new AbortController().signal;

const reading = { url: URL_OF_PAGE, signal: never, timeoutMs: 3_600_000 };
/** Of what the largest pages are made of, a check takes a part. */
const part = (count: number) =>
  tries({ check: Math.ceil(count / 400), nightly: Math.ceil(count / 10), long: count });

const code = (size: (count: number) => number) => `<pre>${'x\n'.repeat(size(300_000))}</pre>`;
type PageOf = (size: (count: number) => number) => string;
const SLOW: [what: string, html: PageOf][] = [
  ['code in 115 quotes', (size) => '<blockquote>'.repeat(115) + code(size)],
  ['code in 57 lists', (size) => '<ul><li>'.repeat(57) + code(size)],
  [
    '124 times 60 lists',
    (size) => `${'<ul><li>'.repeat(60)}x${'</li></ul>'.repeat(60)}`.repeat(size(124)),
  ],
  [
    'small tables in 39 tables',
    (size) =>
      '<table><tr><td>'.repeat(39) +
      '<table><tr><td>a</td><td>b</td></tr></table>'.repeat(size(3_600)),
  ],
  ['ten million angle brackets', (size) => '<'.repeat(size(10_000_000))],
  [
    'ends of paragraphs that never began, deep inside',
    (size) => `<div>first</div>${'<div>'.repeat(1_990)}${'</p>'.repeat(size(2_400_000))}`,
  ],
  ['styles with comments', (size) => `<p style="a:${'/*'.repeat(800)}">x</p>`.repeat(size(6_000))],
];

describe('readHtml', () => {
  it.each(inCheck(SLOW, ([what]) => what.includes('tables')))(
    'leaves the process free for others: %s',
    async (_, html) => {
      const turn = new AbortController();
      const page = readHtml(
        html((count) => count),
        { ...reading, signal: turn.signal },
      );
      setTimeout(() => turn.abort(new Error('enough')), 20);
      await expect(page).rejects.toThrow('enough');
    },
  );

  const ended = ['small tables in 39 tables'];
  it.each(inCheck(SLOW, ([what]) => ended.includes(what)))(
    'comes to an end: %s',
    async (_, html) => {
      const page = await readHtml(html(part), reading);
      expect(page?.text).not.toBe('');
      expect(page?.text.length).toBeLessThan(5_100_000);
    },
  );

  it('shows as text what takes longer than its time', async () => {
    // However long a busy machine takes for the first pass.
    const html = SLOW.find(([what]) => what.startsWith('124'))?.[1]((count) => count) ?? '';
    const { page } = await withEnoughTime(
      async (timeoutMs) => ({
        page: await readHtml(html, { ...reading, timeoutMs }),
      }),
      ({ page }) => page !== undefined,
    );
    expect(page).toMatchObject({ extraction: 'text', isCut: false });
  });

  it.runIf(isLongRun())('shows the same of a page in the thread and out of it', async () => {
    const start = `<html lang="de"><title>T</title><meta name="author" content="A"><h1>Head</h1>${PARAGRAPH}<a href="/x">link</a>`;
    const small = await readHtml(start, reading);
    const large = await readHtml(start + ' '.repeat(SMALL_PAGE.chars), reading);
    expect(large).toEqual(small);
    expect(small).toMatchObject({ title: 'T', byline: 'A', language: 'de', linkCount: 1 });
  });
});
/** A page with nearly the largest size that needs no thread. */
const fill = (unit: string, start = '') =>
  start + unit.repeat(Math.floor((SMALL_PAGE.chars - start.length) / unit.length));
const nested = (name: string, depth: number) =>
  `${`<${name}>`.repeat(depth)}x${`</${name}>`.repeat(depth)}`;
const SMALL: [what: string, html: string][] = [
  ['code in quotes', fill('x\n', `${'<blockquote>'.repeat(SMALL_PAGE.depth - 1)}<pre>`)],
  ['code in lists', fill('x\n', `${'<ul><li>'.repeat(SMALL_PAGE.depth / 2 - 1)}<pre>`)],
  ['formatting', fill('<b>x</b>')],
  ['formatting in formatting', fill('<i>x</i>', '<i>'.repeat(SMALL_PAGE.depth - 1))],
  ['paragraphs', fill('<p>x')],
  ['links', fill('<a href=x>x</a>')],
  ['items', fill('<li>x', '<ul>')],
  ['tables', fill('<table><tr><td>a<td>b</table>')],
  ['tables in tables', fill('<table><tr><td>a<td>b</table>', '<table><tr><td>'.repeat(5))],
  ['rows', fill('<tr><td>', '<table>')],
  ['cells', fill('<td>', '<table><tr>')],
  ['line breaks', fill('x<br>')],
  ['elements in elements', fill(nested('div', SMALL_PAGE.depth))],
  ['quotes in quotes', fill(nested('blockquote', SMALL_PAGE.depth))],
  ['lists in lists', fill(nested('ol><li', SMALL_PAGE.depth / 2).replaceAll('</ol><li>', '</ol>'))],
  ['blocks of code', fill('<pre>a\n</pre>')],
  ['angle brackets', fill('<')],
  ['what Markdown would take for its own', fill('*_`[]#>1.~')],
  ['spaces', fill(' ', '<p>a')],
  ['styles', fill('<p style="a:/*/*/*/*/*">x</p>')],
  ['images', fill('<img alt=x src=y>')],
  ['metadata', fill('<meta name=author content=x>')],
];

describe('a page that is read without a thread', () => {
  // Far below the limit of a call, and far above the time of each page here.
  const MAX_CPU_MS = 2_000;
  // The slowest of each kind.
  const slowest = ['angle brackets', 'elements in elements'];
  it.each(inCheck(SMALL, ([what]) => slowest.includes(what)))(
    'takes no long time for %s',
    async (_, html) => {
      expect(html.length).toBeLessThanOrEqual(SMALL_PAGE.chars);
      expect((await scanHtml(html, new URL(URL_OF_PAGE))).depth).toBeLessThanOrEqual(
        SMALL_PAGE.depth,
      );
      const before = process.cpuUsage();
      await readHtml(html, reading);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(MAX_CPU_MS);
    },
  );
});
