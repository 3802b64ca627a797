import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.js';
import { scanHtml } from './scan-html.js';

const scan = (html: string) => scanHtml(html, new URL('https://example.com/a/b.html'));
const markdownOf = async (html: string) => (await htmlToMarkdown(await scan(html))).markdown;

describe('what can not be seen is left out:', () => {
  it.each([
    '<p hidden>SECRET</p>',
    '<p hidden="until-found">SECRET</p>',
    '<p aria-hidden="true">SECRET</p>',
    '<p style="display:none">SECRET</p>',
    '<p style="DISPLAY : none !important">SECRET</p>',
    '<p style="display:/* x */none">SECRET</p>',
    '<p style="visibility: hidden">SECRET</p>',
    '<p style="opacity:0">SECRET</p>',
    '<p style="opacity: 0.0; color: red">SECRET</p>',
    '<p style="font-size:0px">SECRET</p>',
    '<p style="color:transparent">SECRET</p>',
    '<p style="position:absolute; left:-9999px">SECRET</p>',
    '<p style="text-indent:-1000em">SECRET</p>',
    '<p style="clip: rect(0,0,0,0)">SECRET</p>',
    '<p style="clip: rect(1px, 1px, 1px, 1px)">SECRET</p>',
    '<p style="clip-path: inset(50%)">SECRET</p>',
    '<p style="width:0;height:0;overflow:hidden">SECRET</p>',
    '<p style="transform: scale(0)">SECRET</p>',
    '<p style="display:none ! important">SECRET</p>',
    `<p style="display:${' '.repeat(500)}none">SECRET</p>`,
    '<p style="display:\\6e one">SECRET</p>',
    '<p style="display:none/*">SECRET</p>',
    '<p style="color:rgba(0,0,0,0)">SECRET</p>',
    '<p style="color: rgb(0 0 0 / 0%)">SECRET</p>',
    '<p style="color:#ffffff00">SECRET</p>',
    '<p style="transform:scale(0,0)">SECRET</p>',
    '<p style="transform:translateX(-9999px)">SECRET</p>',
    '<p style="inset:-9999px auto">SECRET</p>',
    '<p style="left:calc(-9999px)">SECRET</p>',
    '<p style="text-indent:-100vw">SECRET</p>',
    '<p style="font:0/0 a">SECRET</p>',
    '<p style="font-size:1px">SECRET</p>',
    '<p style="opacity:.001">SECRET</p>',
    '<p style="opacity:0%">SECRET</p>',
    '<p style="filter:opacity(0)">SECRET</p>',
    '<p style="clip-path:circle(0)">SECRET</p>',
    '<p style="height:0;overflow:clip">SECRET</p>',
    '<p style="overflow-y:hidden;max-height:0">SECRET</p>',
    '<p style="width:1px;height:1px;overflow:hidden">SECRET</p>',
    '<datalist><option>SECRET</option></datalist>',
    '<div popover>SECRET</div>',
    '<progress>SECRET</progress>',
    '<meter>SECRET</meter>',
    '<ruby>x<rp>SECRET</rp></ruby>',
    '<div hidden><div><p>SECRET</p></div></div>',
    '<!-- SECRET -->',
    '<![CDATA[ SECRET ]]>',
    '<script>SECRET</script>',
    '<script>"</b>SECRET"</script>',
    '<style>SECRET{}</style>',
    '<template><p>SECRET</p></template>',
    '<noscript>SECRET</noscript>',
    '<textarea>SECRET</textarea>',
    '<svg><title>SECRET</title><text>SECRET</text></svg>',
    '<dialog>SECRET</dialog>',
    '<iframe srcdoc="SECRET">SECRET</iframe>',
    '<select><option>SECRET</option></select>',
    '<input value="SECRET">',
    '<a href="javascript:SECRET">x</a>',
    '<img src="data:SECRET" alt="x">',
    '<img src="https://example.com/SECRET">',
  ])('%s', async (html) => {
    const page = `before ${html} after`;
    const { markup, outline, links } = await scan(page);
    const shown = `${markup}${outline}${JSON.stringify(links)}${await markdownOf(page)}`;
    expect(shown).not.toContain('SECRET');
    expect(outline).toMatch(/^before[\s\S]*after$/);
  });
});

describe('what can be seen is kept:', () => {
  it.each([
    ['<p style="opacity:0.5">SEEN</p>'],
    ['<p style="font-size:10px">SEEN</p>'],
    ['<p style="left:-5px">SEEN</p>'],
    ['<p style="margin: 0 0 -20px">SEEN</p>'],
    ['<p style="margin-left: -100%">SEEN</p>'],
    ['<p style="color:rgb(0,0,0)">SEEN</p>'],
    ['<p style="color:rgba(0,0,0,0.87)">SEEN</p>'],
    ['<p style="color:rgba(0,0,0,.5)">SEEN</p>'],
    ['<p style="color:#00000080">SEEN</p>'],
    ['<p style="color:#ff0">SEEN</p>'],
    ['<p style="color:#000">SEEN</p>'],
    ['<p style="color:#000000">SEEN</p>'],
    ['<p style="font:12px/0 a">SEEN</p>'],
    ['<p style="font:10px a">SEEN</p>'],
    ['<p style="font-size:1.2px;font-size:small">SEEN</p>'],
    ['<p style="font-size:1.2em">SEEN</p>'],
    ['<p style="opacity:1">SEEN</p>'],
    ['<p style="opacity:.9">SEEN</p>'],
    ['<p style="filter:opacity(1)">SEEN</p>'],
    ['<p style="transform:scale(0.5)">SEEN</p>'],
    ['<p style="transform:translateX(-50%)">SEEN</p>'],
    ['<p style="transform:translate(-50%,-50%)">SEEN</p>'],
    ['<p style="clip-path:circle(50%)">SEEN</p>'],
    ['<p style="height:1px;overflow:hidden">SEEN</p>'],
    ['<p style="width:0;height:0">SEEN</p>'],
    ['<p style="overflow:hidden">SEEN</p>'],
    ['<p style="display:block">SEEN</p>'],
    ['<p style="height:0">SEEN</p>'],
    ['<p style=";;:x;display">SEEN</p>'],
    ['<dialog open>SEEN</dialog>'],
    ['<details><summary>x</summary>SEEN</details>'],
    ['<p aria-hidden="false">SEEN</p>'],
    ['<html style="opacity:0"><body style="visibility:hidden">SEEN</body></html>'],
    ['<unknown-tag>SEEN</unknown-tag>'],
    ['<p>S<b>EE</b>N'],
  ])('%s', async (html) => {
    expect(await markdownOf(html)).toMatch(/SEEN|S\*\*EE\*\*N/);
    expect((await scan(html)).outline).toContain('SEEN');
  });
});

describe('links', () => {
  it.each([
    ['c', 'https://example.com/a/c'],
    ['/c?d=e', 'https://example.com/c?d=e'],
    ['//other.example/x', 'https://other.example/x'],
    [' https://other.example/ ', 'https://other.example/'],
    ['#part', undefined],
    ['', undefined],
    ['javascript:alert(1)', undefined],
    [' JaVa\tScript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['vbscript:x', undefined],
    ['file:///etc/passwd', undefined],
    ['http://[', undefined],
    [`/${'x'.repeat(3_000)}`, undefined],
  ])('to %j are %s', async (href, url) => {
    const { links, linkCount } = await scan(`<a href="${href}">here</a>`);
    expect(links).toEqual(url === undefined ? [] : [{ text: 'here', url }]);
    expect(linkCount).toBe(links.length);
  });

  it('are relative to the base of the page, which is of the web', async () => {
    const { links } = await scan('<base href="/x/"><base href="/y/"><a href="z">1</a>');
    expect(links).toEqual([{ text: '1', url: 'https://example.com/x/z' }]);
    const { links: other } = await scan('<base href="data:x"><a href="z">1</a>');
    expect(other).toEqual([{ text: '1', url: 'https://example.com/a/z' }]);
  });

  it('are told once each, with their first text', async () => {
    const { links, linkCount } = await scan(
      '<a href=x><img src=i></a><a href=x>two</a><a href=x>3</a>',
    );
    expect(links).toEqual([{ text: 'two', url: 'https://example.com/a/x' }]);
    expect(linkCount).toBe(3);
  });
});

describe('what a page says of itself', () => {
  const ld = (data: object) =>
    `<script type="application/ld+json">${JSON.stringify(data)}</script>`;
  it.each([
    ['<title> A\n title </title>', { title: 'A title' }],
    ['<title>B</title><meta property="og:title" content="A">', { title: 'A' }],
    ['<svg><title>B</title></svg>', {}],
    ['<html lang="de-CH">', { language: 'de-CH' }],
    ['<html lang="a sentence of words">', {}],
    ['<link rel="x canonical" href="c">', { canonicalUrl: 'https://example.com/a/c' }],
    ['<link rel="canonical" href="javascript:x">', {}],
    ['<meta name="author" content="https://example.com/me">', {}],
    [
      '<meta property="article:published_time" content="2026-01-02">',
      { publishedAt: '2026-01-02' },
    ],
    ['<meta name="date" content="2026-01-02T03:04">', { publishedAt: '2026-01-02T03:04:00Z' }],
    ['<meta name="date" content="last week">', {}],
    ['<time datetime="2026-01-02T03:04:05+02:00">', { publishedAt: '2026-01-02T01:04:05Z' }],
    [
      ld({
        '@type': 'NewsArticle',
        headline: 'H',
        datePublished: '2026-01-02',
        author: [{ '@type': 'Person', name: 'A' }, 'B'],
        publisher: { name: 'P' },
      }),
      { title: 'H', publishedAt: '2026-01-02', byline: 'A, B', siteName: 'P' },
    ],
    [
      ld({
        '@graph': [
          { '@type': 'Organization', name: 'O' },
          { '@type': ['BlogPosting'], headline: 'H' },
        ],
      }),
      { title: 'H' },
    ],
    [ld({ '@type': 'Article', headline: { deep: 1 }, author: 7 }), {}],
    ['<script type="application/ld+json">{"@type":</script>', {}],
    ['<script type="application/ld+json">null</script>', {}],
  ])('%s', async (html, facts) => {
    const {
      markup: _,
      outline: __,
      links: ___,
      linkCount: ____,
      isCut: _____,
      depth: ______,
      ...found
    } = await scan(html);
    expect(found).toEqual(facts);
  });
});

describe('Markdown of', () => {
  it.each([
    [
      'a table without a head',
      '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
      '| a | b |\n| --- | --- |\n| c | d |',
    ],
    [
      'a table with a wide cell',
      '<table><tr><td colspan="2">a</td></tr><tr><td>c</td><td>d</td></tr></table>',
      '| a | |\n| --- | --- |\n| c | d |',
    ],
    ['a table that is for layout', '<table><tr><td><p>a</p><p>b</p></td></tr></table>', 'a\n\nb'],
    [
      'a cell with lines',
      '<table><tr><td>a<br>b</td><td>c|d</td></tr></table>',
      '| a b | c\\|d |\n| --- | --- |',
    ],
    ['a list in a list', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>', '- a\n  - b\n- c'],
    ['a list that begins at 9', '<ol start="9"><li>a<li>b</ol>', '9. a\n10. b'],
    ['code', '<pre><code class="language-ts">a\n\n  b</code></pre>', '```ts\na\n\n  b\n```'],
    ['a heading', '<h2>A <em>b</em></h2>', '## A *b*'],
    ['what looks like Markdown', '<p># no *heading*</p>', '\\# no \\*heading\\*'],
  ])('%s', async (_, html, markdown) => {
    expect(await markdownOf(html)).toBe(markdown);
  });
});

const fragment = fc.constantFrom(
  '<p>',
  '</p>',
  '<div hidden>',
  '</div>',
  '<a href="',
  '">',
  '<table>',
  '<tr>',
  '<td colspan=9>',
  '</table>',
  '<ul>',
  '<li>',
  '<pre>',
  '</pre>',
  '<script>',
  '</script>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<style>',
  '</style>',
  '<svg>',
  '<title>',
  '<base href=x>',
  '<img alt=x src=y>',
  'text',
  ' ',
  '\n',
  '&',
  '&amp;',
  '&#x110000;',
  '<',
  '>',
  '\0',
  '\ud800',
  '😀',
  '<template>',
  '<plaintext>',
  '<textarea>',
  '<math>',
  '<html lang=x>',
  '<body>',
  '<frameset>',
  "'",
  '"',
  '=',
  '/>',
);

describe('the outline of', () => {
  it.each([
    ['inline elements', '<p>a <b> b</b> c<i>d</i></p>', 'a b cd'],
    ['blocks', '<p> a </p> <div> b <div> c', 'a \n\nb \nc'],
    ['lists and headings', '<h2>a</h2><ul><li>b</li><li> c</ul>', '## a\n\n- b\n- c'],
    ['cells', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a | b\nc'],
    ['code', '<pre>a\n  b</pre>c', 'a\n  b\n\nc'],
  ])('%s', async (_, html, outline) => {
    expect((await scan(html)).outline).toBe(outline);
  });
});

describe('whatever is on a page', () => {
  fuzz(
    'it becomes well-formed text, without scripts or addresses that are not of the web',
    fc.array(fc.oneof(fragment, fc.string({ maxLength: 6 })), { maxLength: 40 }),
    async (parts) => {
      const page = await scan(parts.join(''));
      const { markdown } = await htmlToMarkdown(page);
      expect(markdown.toWellFormed()).toBe(markdown);
      expect(page.markup ?? '').not.toMatch(/<script|<style|javascript:/i);
      for (const { url } of page.links) expect(url).toMatch(/^https?:/);
    },
  );

  fuzz('what is hidden stays so', fc.array(fragment, { maxLength: 12 }), async (parts) => {
    const inner = parts
      .join('')
      .replaceAll(
        /<\/?(?:div|template|table|script|style|textarea|plaintext|title|html|body|frameset)[^>]*>?/g,
        '',
      );
    const page = await scan(
      `<section hidden>SECRET ${inner.replaceAll(/[<>"'=]/g, '')}</section>after`,
    );
    expect(`${page.markup}${page.outline}`).not.toContain('SECRET');
    expect(page.outline).toContain('after');
  });
});
