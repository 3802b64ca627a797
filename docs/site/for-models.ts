import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { relativeLinks } from '../tooling/links.js';
import { REPOSITORY, readPage } from '../tooling/markdown.js';
import { isFolder } from './addresses.js';
import type { MenuGroup, MenuItem } from './contents.js';

/**
 * Writes what a model reads into the folder of the site: each page as the Markdown that it is, under
 * its path in the repository, so that its links hold; the files that it links to; and `llms.txt`,
 * which lists the pages.
 *
 * @param site the folder that the site was built into
 * @param pages paths from the root of the repository
 * @see https://llmstxt.org
 */
export function writeForModels(
  site: string,
  pages: readonly string[],
  menu: readonly MenuGroup[],
): void {
  for (const path of pages) {
    const page = readPage(join(REPOSITORY, path));
    write(join(site, path), asMarkdown(page.text));
    for (const { url } of relativeLinks(page)) copyLinked(site, posix.join(dirname(path), url));
  }
  write(join(site, 'llms.txt'), listOf(menu));
}

/** Shows the comments that a page has for its tests as text: which block is the output of which. */
function asMarkdown(page: string): string {
  return page.replace(/^<!-- output -->$/gm, 'Output:').replace(/^<!-- [\s\S]*? -->\n+/gm, '');
}

function copyLinked(site: string, link: string): void {
  const path = decodeURI(link.replace(/#.*$/, ''));
  if (path.endsWith('.md') || isFolder(path)) return;
  write(join(site, path), readFileSync(join(REPOSITORY, path)));
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function listOf(menu: readonly MenuGroup[]): string {
  const [front] = menu[0]?.items ?? [];
  const groups = menu.map(({ title, items }) => [`## ${title}`, ...items.map(lineOf)].join('\n'));
  return `${[`# ${front?.text}`, `> ${front?.about}`, ...groups].join('\n\n')}\n`;
}

function lineOf({ text, link, about }: MenuItem): string {
  const path = link.slice(1).replace(/(^|\/)$/, '$1README.md');
  return `- [${text}](${path})${about === '' ? '' : `: ${about}`}`;
}
