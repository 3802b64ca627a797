import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { inCheck, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { PARAGRAPH } from './fixtures/article.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { MARKUP_LIMITS } from './page-markup.js';
import { scanHtml } from './scan-html.js';

const URL_OF_PAGE = new URL('https://example.com/');

async function convert(html: string) {
  const page = await scanHtml(html, URL_OF_PAGE);
  return { page, ...(await htmlToMarkdown(page)) };
}

/** Pages that a library would take quadratic time, or a deep stack, for. */
const HOSTILE: [what: string, page: (size: number) => string][] = [
  ['elements in elements', (size) => '<div>'.repeat(size) + PARAGRAPH],
  ['lists in lists', (size) => `${'<ul><li>'.repeat(size)}x`],
  ['tables in tables', (size) => `${'<table><tr><td>'.repeat(size)}x`],
  ['quotes in quotes', (size) => `${'<blockquote>'.repeat(size)}x`],
  [
    'formatting that is never closed',
    (size) => `${'<b>'.repeat(100)}${'<i>x</i>'.repeat(size / 8)}`,
  ],
  ['links', (size) => '<a href="/x">y</a> '.repeat(size / 8)],
  [
    'links, each another',
    (size) => Array.from({ length: size / 8 }, (_, at) => `<a href=/${at}>y</a>`).join(''),
  ],
  ['rows', (size) => `<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(size / 8)}</table>`],
  ['items', (size) => `<ol>${'<li>x'.repeat(size / 4)}</ol>`],
  ['line breaks', (size) => 'x<br>'.repeat(size / 4)],
  ['an attribute', (size) => `<p title="${'a'.repeat(size)}">x`],
  [
    'attributes',
    (size) => `<p ${Array.from({ length: size / 8 }, (_, at) => `a${at}=1`).join(' ')}>x`,
  ],
  ['a style', (size) => `<p style="${'/*'.repeat(size)}">x`],
  ['spaces', (size) => `<p>a${' '.repeat(size)}b`],
  ['spaces in code', (size) => `<pre>a${' '.repeat(size)}b</pre>`],
  [
    'white space in code, in pieces',
    (size) => `<pre>${`${' '.repeat(199)}b`.repeat(size / 200)}</pre>`,
  ],
  ['commas', (size) => `<p>${','.repeat(size)}`],
  ['what Markdown would take for its own', (size) => `<p>${'*_`[]#>1.~'.repeat(size / 8)}`],
  ['angle brackets', (size) => '<'.repeat(size)],
  ['comments that never end', (size) => '<!--'.repeat(size)],
  ['entities', (size) => '&amp;&lt;&#x41;&notanentity;'.repeat(size / 16)],
  ['end tags of nothing', (size) => '</x>'.repeat(size)],
  ['a tag that never ends', (size) => '<a href="'.repeat(size)],
  ['JSON-LD', (size) => `<script type="application/ld+json">${'['.repeat(size)}</script>x`],
  ['metadata', (size) => '<meta name="author" content="x">'.repeat(size / 8)],
  ['formulas', (size) => '<math><mi>x</mi></math>'.repeat(size / 16)],
  ['a formula', (size) => `<math>${'<mrow>'.repeat(size)}x`],
  ['formulas that never end', (size) => `<p>${'\\( $$ \\['.repeat(size / 8)}`],
  [
    'notes',
    (size) => `${'<a href="#fn1">1</a>'.repeat(size / 16)}<ol>${'<li id=fn1>x'.repeat(size / 16)}`,
  ],
  ['definitions', (size) => `<dl>${'<dt>a<dd>b'.repeat(size / 8)}`],
  ['columns', () => '<table><tr><td colspan="999999999">a</td><td>b</td></tr></table>'],
];

describe('the time for a page grows with its size, for one of', () => {
  const standing = ['elements in elements', 'tables in tables', 'links, each another'];
  const tried = inCheck(HOSTILE, ([what]) => standing.includes(what));
  for (const [what, page] of tried) growsLinearly(what, page, convert);
});

describe('a page', () => {
  it.each([
    [
      'that is nested too deeply is shown up to there',
      `<p>first</p>${'<div>'.repeat(100_000)}<p>last</p>`,
      'first',
      true,
    ],
    [
      'with too many elements is shown as text',
      `<h1>Head</h1>${'<p>x <b>y</b></p>'.repeat(MARKUP_LIMITS.elements)}`,
      '# Head\n\nx y\n\nx y',
      false,
    ],
    [
      'with too much text is shown as text',
      `<p>first</p><p>${'x'.repeat(3_100_000)}</p>`,
      'first\n\nxxx',
      false,
    ],
  ])('%s', async (_, html, start, isCut) => {
    const { page, markdown, extraction } = await convert(html);
    expect(extraction).toBe('text');
    expect(markdown.slice(0, start.length)).toBe(start);
    expect(page.isCut).toBe(isCut);
  });

  it('that hides something before it is nested too deeply does not show it', async () => {
    const html = `<p>first</p><div hidden>${'<b>'.repeat(2_500)}${'</b>'.repeat(2_500)}HIDDEN${'</div>'.repeat(99)}HIDDEN`;
    const { page, markdown } = await convert(html);
    expect(`${markdown}${page.outline}`).not.toContain('HIDDEN');
  });

  const links = tries({ check: 2_000, nightly: 200_000, long: 200_000 });
  it('with very many links tells of the first hundred', async () => {
    const html = Array.from({ length: links }, (_, at) => `<a href=/${at}>${at}</a>`).join('');
    const { page } = await convert(html);
    expect(page.links).toHaveLength(100);
    expect(page.linkCount).toBe(links);
  });
});
