import { describe, expect, it } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.js';
import { scanHtml } from './scan-html.js';

const URL_OF_PAGE = new URL('https://example.com/a/b.html');
const read = async (html: string) => {
  const page = await scanHtml(html, URL_OF_PAGE);
  return { outline: page.outline, ...(await htmlToMarkdown(page)) };
};
const frac = '<mfrac><mi>a</mi><mi>b</mi></mfrac>';
const annotated = (tex: string) =>
  `<math><semantics><mrow>${frac}</mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math>`;

describe('a formula is shown as TeX:', () => {
  it.each([
    ['MathML', `<math>${frac}</math>`, '$\\frac{a}{b}$'],
    ['MathML with its TeX', annotated('\\frac ab'), '$\\frac ab$'],
    ['LaTeXML', `<math alttext="\\tfrac{a}{b}">${frac}</math>`, '$\\tfrac{a}{b}$'],
    [
      'KaTeX',
      `<span class="katex"><span class="katex-mathml">${annotated('a_1')}</span><span class="katex-html" aria-hidden="true">a1</span></span>`,
      '$a_1$',
    ],
    [
      'KaTeX of a line',
      `<span class="katex-display"><span class="katex"><span class="katex-mathml">${annotated('a_1')}</span></span></span>`,
      '$$\na_1\n$$',
    ],
    [
      'Wikipedia',
      `<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">${annotated('{\\displaystyle E}')}</span><img src="/x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle E=mc^{2}}"></span>`,
      '$E=mc^{2}$',
    ],
    [
      'MathJax 3',
      `<mjx-container class="MathJax" display="true"><mjx-math aria-hidden="true">a</mjx-math><mjx-assistive-mml><math>${frac}</math></mjx-assistive-mml></mjx-container>`,
      '$$\n\\frac{a}{b}\n$$',
    ],
    [
      'MathJax 2',
      '<span class="MathJax_Preview">p</span><span class="MathJax">a</span><script type="math/tex">a_1</script>',
      '$a_1$',
    ],
    ['MathJax 2 of a line', '<script type="math/tex; mode=display">a_1</script>', '$$\na_1\n$$'],
    ['an image', '<img class="latex" alt="a_1" src="/latex.php?latex=a_1">', '$a_1$'],
    ['source for a script', 'see \\(a_1 * b_2\\)', 'see \\(a_1 * b_2\\)'],
  ])('%s', async (_, html, markdown) => {
    const page = await read(`<p>x ${html} y`);
    const isBlock = markdown.startsWith('$$');
    expect(page.markdown).toBe(isBlock ? `x\n\n${markdown}\n\ny` : `x ${markdown} y`);
    expect(page.outline).toContain(markdown.replaceAll('\n', ''));
  });

  it.each([
    ['in what is hidden', `<p hidden>${annotated('SECRET')}</p>`],
    ['in what is hidden, as a script', '<p hidden><script type="math/tex">SECRET</script></p>'],
    ['as an image in what is hidden', '<p hidden><img class="latex" alt="SECRET" src="/x"></p>'],
    [
      'as an annotation of another kind',
      '<math><semantics><mi>x</mi><annotation encoding="text/plain">SECRET</annotation></semantics></math>',
    ],
    ['as a comment in it', '<math><!-- SECRET --><mi>x</mi></math>'],
  ])('but not %s', async (_, html) => {
    const { markdown, outline } = await read(`before ${html} after`);
    expect(markdown + outline).not.toContain('SECRET');
    expect(outline).toMatch(/^before[\s\S]*after$/);
  });

  it('as long as it is one that anybody would read', async () => {
    const { markdown } = await read(`a ${annotated('x'.repeat(100_000))} b`);
    expect(markdown.length).toBeLessThan(6_000);
  });
});

describe('Markdown of', () => {
  it.each([
    [
      'footnotes',
      '<p>Said<sup><a href="#fn1">[1]</a></sup> so.</p><ol><li id="fn1"><p>Indeed. <a href="#fnref1">↩</a></p></li></ol>',
      'Said[^1] so.\n\n[^1]: Indeed.',
    ],
    ['a note that is not there', '<p>Said<sup><a href="#fn1">[1]</a></sup> so.</p>', 'Said[1] so.'],
    [
      'definitions',
      '<dl><dt>one<dd>first<dd>also</dd><div><dt>two</dt><dd><p>second</p></dd></div></dl>',
      'one\n: first\n: also\n\ntwo\n: second',
    ],
    [
      'a table with a caption',
      '<table><caption>Sizes</caption><tr><th>a<th>b<tr><td>1<td>2</table>',
      'Sizes\n\n| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
    [
      'a table with cells over several rows',
      '<table><tr><th rowspan=2>a<th colspan=2>b<th>c<tr><td>1<td>2<td rowspan=3>3<tr><td>4<tr><td>5<td>6<td>7</table>',
      '| a | b | | c |\n| --- | --- | --- | --- |\n| | 1 | 2 | 3 |\n| 4 |\n| 5 | 6 | 7 | |',
    ],
    [
      'a table with a cell that claims to reach out of its section',
      '<table><thead><tr><th rowspan=9>a<th>b</thead><tbody><tr><td>1<td>2</tbody></table>',
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
    [
      'the language of its wrapper',
      '<div class="highlight-python notranslate"><div class="highlight"><pre>x = 1</pre></div></div>',
      '```python\nx = 1\n```',
    ],
    ['the language of an attribute', '<pre data-lang="Go">x := 1</pre>', '```go\nx := 1\n```'],
    [
      'code with numbered lines',
      '<table><tr><td class="linenos"><pre>1\n2</pre></td><td><pre class="lang-sh">a\nb</pre></td></tr></table>',
      '```sh\na\nb\n```',
    ],
    [
      'code of an element a line',
      '<pre class="language-js line-numbers"><code><div>a</div><div>b</div></code></pre>',
      '```js\na\nb\n```',
    ],
    ['code with a fence in it', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    [
      'a heading with its anchor',
      '<h2>Head <a class="headerlink" href="#head">¶</a></h2>',
      '## Head',
    ],
    [
      'words of a mark that leads nowhere, and no sign of one',
      '<p><a name="a">us</a> in <a href="#b">2020</a> <a href="#c">\\</a><a href="#top">↑</a><a href="#d">\u200b # </a></p>',
      'us in 2020',
    ],
    ['a card', '<a href="/x"><h3>Head</h3><p>Text</p></a>', '[Head Text](https://example.com/x)'],
    ['an address with brackets', '<a href="/a_(b)">x</a>', '[x](<https://example.com/a_(b)>)'],
    [
      'a picture',
      '<figure><img src="/x.png" alt="A [wave]"><figcaption>It rolls.</figcaption></figure>',
      '![A [wave]](https://example.com/x.png)\n\nIt rolls.',
    ],
    [
      'a picture before a word',
      '<p>a <img src="/x.png" alt="x"> <b>b</b></p>',
      'a ![x](https://example.com/x.png) **b**',
    ],
    ['powers', '10<sup>6</sup> is more than the 1<sup>st</sup>', '10^6 is more than the 1st'],
    ['emphasis with spaces', 'a<b> b </b>c', 'a **b** c'],
    ['names with underscores', 'max_tokens and _x_', 'max_tokens and \\_x\\_'],
    [
      'a quote in a list',
      '<ul><li>a<blockquote>b</blockquote></li><li>c</li></ul>',
      '- a\n\n  > b\n- c',
    ],
    ['lines', '<p>a<br>b</p>', 'a  \nb'],
    [
      'tasks',
      '<ul><li><input type="checkbox" checked disabled> a</li><li><input type=checkbox disabled id=b> b</li><li><p><label><input type="checkbox">c</label></p></li></ul>',
      '- [x] a\n- [ ] b\n- [ ] c',
    ],
    [
      'boxes that are no tasks',
      '<p><input type="checkbox"> a</p><ul><li><input type="checkbox" id="menu">b</li><li><input type="checkbox" disabled style="display:none">c</li><li hidden><input type="checkbox">d</li><li><input type="radio">e</li></ul>',
      'a\n\n- b\n- c\n- e',
    ],
  ])('%s', async (_, html, markdown) => {
    expect((await read(html)).markdown).toBe(markdown);
  });
});

describe('names that sound like the surroundings of a text do not remove', () => {
  const prose =
    '<p>All of this is about headers, comments and other parts of a message. </p>'.repeat(9);
  const shown = async (html: string) => {
    const page = await read(`<title>Messages</title><main>${prose}${html}${prose}</main>`);
    expect(page.extraction).toBe('article');
    return page.markdown;
  };

  it.each([
    ['a heading by its id', '<h2 id="custom-headers">Custom headers</h2>', '## Custom headers'],
    ['a heading by its id, read as a weight', '<h2 id="metadata">Metadata</h2>', '## Metadata'],
    [
      'a heading by its class',
      '<section id="f" class="method"><h4 class="code-header">fn f(x: <a href="/u8">u8</a>)</h4></section>',
      '#### fn f(x: [u8](https://example.com/u8))',
    ],
    [
      'a word of a heading by its id',
      '<h2><span class="mw-headline" id="Related_work">Related work</span></h2>',
      '## Related work',
    ],
    [
      'a section by its id',
      '<section id="comments"><h2>Comments</h2><p>They begin with a #.</p></section>',
      '## Comments\n\nThey begin with a #.',
    ],
    [
      'a section of another kind by its id',
      '<div class="section" id="extra"><h2>Extra</h2><p>There is more, to read, here.</p></div>',
      '## Extra\n\nThere is more, to read, here.',
    ],
    [
      'a term by its id',
      '<dl><dt id="m.Message.add_header">add_header(name)</dt><dd>Adds one.</dd></dl>',
      'add_header(name)\n: Adds one.',
    ],
    [
      'a comment in code',
      '<pre><span class="comment"># why</span>\nx = 1 <span class="org-comment"># how</span></pre>',
      '```\n# why\nx = 1 # how\n```',
    ],
  ])('%s', async (_, html, markdown) => {
    expect(await shown(html)).toContain(`\n\n${markdown}\n\n`);
  });

  it('but what is not content is removed by them as before', async () => {
    const around =
      '<div class="comments"><p>COMMENT</p></div><div id="related"><p>RELATED</p></div><span class="social">SHARE</span>';
    expect(await shown(around)).not.toMatch(/COMMENT|RELATED|SHARE/);
  });

  it('nor the language and the notes that they name', async () => {
    const text = await shown(
      '<p>Said<sup><a href="#fn1">1</a></sup>.</p><pre class="language-js">x</pre><ol><li id="fn1">Why.</li></ol>',
    );
    expect(text).toContain('Said[^1].\n\n```js\nx\n```\n\n[^1]: Why.');
  });
});
