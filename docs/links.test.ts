import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GithubSlugger from 'github-slugger';
import { toString as textOf } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';
import { expect, it } from 'vitest';
import { type Page, REPOSITORY, readPage, readPages } from './tooling/markdown.js';

it.each(readPages().map((page) => [page.path, page] as const))(
  'the relative links of %s lead to a file and a heading',
  (_, page) => {
    expect(relativeLinks(page).filter(({ url }) => !leadsSomewhere(page, url))).toEqual([]);
  },
);

function relativeLinks({ tree }: Page): { url: string; line: number | undefined }[] {
  const links: { url: string; line: number | undefined }[] = [];
  visit(tree, (node) => {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const { url } = node;
    if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) links.push({ url, line: node.position?.start.line });
  });
  return links;
}

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
