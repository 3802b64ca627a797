import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { REPOSITORY } from '../tooling/markdown.js';

/** Where the site shows the sources that its pages link to. */
const SOURCES = 'docs/source';

/**
 * The address on the site of a file or folder of the repository: a page has the path that it has in
 * the repository, a `README.md` stands for its folder, and everything else is shown as source.
 *
 * @param path from the root of the repository
 * @returns begins with `/`; that of a page ends with `.md`, which VitePress replaces
 */
export function addressOf(path: string): string {
  const file =
    isFolder(path) && existsSync(absolute(path, 'README.md')) ? `${path}/README.md` : path;
  if (file.endsWith('README.md')) return `/${file.slice(0, -'README.md'.length)}`;
  return file.endsWith('.md') ? `/${file}` : `/${SOURCES}/${file}.md`;
}

/**
 * Where a link of a page leads on the site.
 *
 * @param page its path from the root of the repository
 * @param url relative, as it stands on the page
 */
export function linkOnSite(page: string, url: string): string {
  const [path = '', ...anchor] = url.split('#');
  if (path === '') return url;
  const target = posix.join(posix.dirname(page), decodeURI(path)).replace(/\/$/, '');
  return [addressOf(target), ...anchor].join('#');
}

export function isFolder(path: string): boolean {
  return statSync(absolute(path), { throwIfNoEntry: false })?.isDirectory() === true;
}

function absolute(...path: readonly string[]): string {
  return join(REPOSITORY, ...path);
}
