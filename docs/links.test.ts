import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GithubSlugger from 'github-slugger';
import { toString as textOf } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';
import { expect, it } from 'vitest';
import { relativeLinks } from './tooling/links.js';
import { type Page, REPOSITORY, readPage, readPages } from './tooling/markdown.js';

it.each(readPages().map((page) => [page.path, page] as const))(
  'the relative links of %s lead to a file and a heading',
  (_, page) => {
    expect(relativeLinks(page).filter(({ url }) => !leadsSomewhere(page, url))).toEqual([]);
  },
);

function leadsSomewhere(page: Page, url: string): boolean {
  const [path = '', anchor] = url.split('#');
  const target = join(REPOSITORY, dirname(page.path), decodeURI(path));
  if (path !== '' && !existsSync(target)) return false;
  if (anchor === undefined) return true;
  return anchorsOf(path === '' ? page : readPage(target)).has(anchor);
}

function anchorsOf({ tree }: Page): Set<string> {
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  visit(tree, 'heading', (node) => {
    anchors.add(slugger.slug(textOf(node)));
  });
  return anchors;
}
