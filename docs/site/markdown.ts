import { relative } from 'node:path';
import { slug } from 'github-slugger';
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress';
import { REPOSITORY } from '../tooling/markdown.js';
import { linkOnSite } from './addresses.js';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

/** Markdown on the site means what it means in the repository. */
export const markdown: MarkdownOptions = {
  // These have the contrast that WCAG AA asks for.
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  anchor: { slugify: (heading) => slug(heading) },
  attrs: { disable: true },
  emoji: { enabled: [] },
  config(md) {
    md.core.ruler.push('links_of_repository', ({ tokens, env }) => {
      const page = relative(REPOSITORY, String(env.path)).replaceAll('\\', '/');
      for (const token of tokens) rewriteLinks(page, token);
    });
    md.core.ruler.after('block', 'marks', (state) => {
      state.tokens = withoutMarks(state.tokens, (content) => {
        const html = new state.Token('html_block', '', 0);
        html.content = content;
        return html;
      });
    });
  },
};

function rewriteLinks(page: string, { type, children }: Token): void {
  if (type !== 'inline') return;
  for (const token of children ?? []) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href !== null && !/^([a-z][a-z0-9+.-]*:|\/|#)/i.test(href)) {
      token.attrSet('href', linkOnSite(page, href));
    }
  }
}

const COMMENT = /^<!--(.*)-->$/s;

/** Hides the comments that a page has for its tests. A block marked `output` gets a label. */
function withoutMarks(tokens: readonly Token[], html: (content: string) => Token): Token[] {
  let isOutput = false;
  return tokens.flatMap((token) => {
    const [, mark] = token.type === 'html_block' ? (COMMENT.exec(token.content.trim()) ?? []) : [];
    if (mark !== undefined) {
      isOutput = mark.trim() === 'output';
      return [];
    }
    if (!isOutput) return [token];
    isOutput = false;
    return [html('<div class="output"><p>Output</p>\n'), token, html('</div>\n')];
  });
}
