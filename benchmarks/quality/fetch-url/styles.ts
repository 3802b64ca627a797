import type { Article } from './articles.js';

const WORDS =
  'World Politics Business Markets Opinion Science Health Sport Culture Travel Style Video Podcasts Newsletters Weather Archive Jobs Events Careers Partners Pricing Support Community Advertise Sitemap'.split(
    ' ',
  );

const links = (count: number, kind: string) =>
  Array.from(
    { length: count },
    (_, at) => `<li><a href="/${kind}/${at}">${WORDS[at % WORDS.length]} ${kind} ${at}</a></li>`,
  ).join('\n');
const teasers = (count: number) =>
  Array.from(
    { length: count },
    (_, at) =>
      `<div class="teaser"><a href="/t/${at}"><img src="/i/${at}.jpg" alt=""><h3>Ten ${WORDS[at % WORDS.length]} stories nobody expected</h3></a><p>Read on, ${at} min</p></div>`,
  ).join('\n');
// Of the source of a page, most is not for readers.
const STYLE = `<style>${'.a1b2c3 > .d4e5{display:flex;color:#123456;margin:0 auto}\n'.repeat(600)}</style>`;
const SCRIPT = `<script>window.__STATE__=${JSON.stringify(Array.from({ length: 600 }, (_, at) => ({ id: at, name: 'item', url: `/item/${at}`, tags: ['<b>', 'c'] }))).replaceAll('<', '\\u003c')}</script>`;
const page = (title: string, body: string, head = '') =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${asText(title)}</title>${head}${STYLE}${SCRIPT}</head><body>${body}</body></html>`;
const asText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Ways in which pages of the web present an article, each with what else is on such a page. */
export const STYLES: Record<string, (article: Article) => string> = {
  news: ({ title, html }) =>
    page(
      `${title} | The Daily`,
      `<header class="masthead"><a href="/">The Daily</a><nav><ul>${links(18, 'section')}</ul></nav></header>
<main><article class="story"><h1>${asText(title)}</h1><div class="byline">By Ann Author</div><div class="share-tools"><a href="#s">Share</a> <a href="#t">Tweet</a></div>
<div class="story-body">${html}</div></article>
<aside class="related"><h2>Related</h2>${teasers(8)}</aside></main>
<div class="newsletter-signup"><p>Get the best of The Daily in your inbox.</p><form><input type="email"><button>Sign up</button></form></div>
<footer class="site-footer"><ul>${links(24, 'footer')}</ul><p>© 2026 The Daily. All rights reserved.</p></footer>`,
      `<meta property="og:title" content="${asText(title).replaceAll('"', '&quot;')}">`,
    ),
  docs: ({ title, html }) =>
    page(
      `${title} - Manual`,
      `<div class="layout"><div class="sidebar" role="navigation"><ul>${links(70, 'chapter')}</ul></div>
<div class="content"><div class="breadcrumbs"><a href="/">Home</a> » <a href="/docs">Docs</a></div><div class="document" role="main"><div class="section"><h1>${asText(title)}<a class="headerlink" href="#top">¶</a></h1>${html}</div></div>
<div class="pager"><a href="/p">Previous</a><a href="/n">Next</a></div></div></div><div class="footer">Built with a generator.</div>`,
    ),
  wiki: ({ title, html }) =>
    page(
      `${title} - Encyclopedia`,
      `<div id="mw-navigation"><div id="mw-panel">${links(30, 'wiki')}</div></div><div id="content" class="mw-body" role="main"><h1 id="firstHeading">${asText(title)}</h1>
<div id="siteSub">From an encyclopedia</div><div id="mw-content-text"><div class="mw-parser-output">${html.replaceAll(/<h2>(.*?)<\/h2>/g, '<h2><span class="mw-headline">$1</span><span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2>')}
<div class="navbox" role="navigation"><table><tr><th>Topics</th><td>${links(20, 'topic')}</td></tr></table></div></div></div><div id="catlinks">Categories: <ul>${links(6, 'category')}</ul></div></div><div id="footer"><ul>${links(8, 'legal')}</ul></div>`,
    ),
  blog: ({ title, html }) =>
    page(
      `${title} « A blog`,
      `<div id="wrap"><ul class="menu">${links(60, 'tag')}</ul><div id="posts"><div class="post hentry"><h2 class="entry-title"><a href="/x">${asText(title)}</a></h2><div class="meta">Posted on May 4</div><div class="entry-content">${html}</div>
<div class="sharedaddy"><h3>Share this:</h3><ul><li>Print</li><li>Mail</li></ul></div></div><div id="comments"><h3>2 Comments</h3><div class="comment"><p>First! Great post, thanks a lot for sharing.</p></div></div></div>
<div id="sidebar"><h3>Archives</h3><ul>${links(40, 'archive')}</ul></div></div>`,
    ),
  code: ({ title, html }) =>
    page(
      `GitForge - ${title}`,
      `<header role="banner"><nav>${links(12, 'product')}</nav></header><div class="application-main"><div class="file-navigation"><table class="files">${Array.from({ length: 20 }, (_, at) => `<tr><td><a href="/f/${at}">file${at}.ts</a></td><td>Fix a bug</td><td>2 days ago</td></tr>`).join('')}</table></div>
<div id="readme"><article class="markdown-body entry-content" itemprop="text"><h1>${asText(title)}</h1>${html}</article></div></div><aside class="BorderGrid sidebar"><h2>About</h2><ul>${links(10, 'about')}</ul></aside><footer>${links(9, 'foot')}</footer>`,
    ),
  tables: ({ title, html }) =>
    page(
      title,
      `<table width="100%"><tr><td colspan="2" bgcolor="#ccc"><a href="/">Home</a> | <a href="/a">About</a></td></tr><tr><td width="150" valign="top"><ul>${links(25, 'menu')}</ul></td><td valign="top"><font size="5">${asText(title)}</font>${html}</td></tr><tr><td colspan="2">Last updated in 1999</td></tr></table>`,
    ),
  soup: ({ title, html }) =>
    page(
      title,
      `<div class="css-1x"><div class="css-2y">${links(20, 'nav')}</div><div class="css-3z"><div><div class="css-4a"><h1>${asText(title)}</h1></div>${html.replaceAll('<p>', '<div class="css-5b">').replaceAll('</p>', '</div>')}</div></div><div class="css-6c">${teasers(6)}</div></div>`,
    ),
  plain: ({ title, html }) => page(title, `<h1>${asText(title)}</h1>${html}`),
};
