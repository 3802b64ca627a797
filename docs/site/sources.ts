import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { relativeLinks } from '../tooling/links.js';
import { REPOSITORY, readPages } from '../tooling/markdown.js';
import { addressOf, isFolder, linkOnSite } from './addresses.js';

const SHOWN_AS: Readonly<Record<string, string>> = {
  '.mjs': 'js',
  '.md': 'md',
  '.json': 'json',
  '.ts': 'ts',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

/** A file or folder that a page links to, as a page of its own. */
export interface SourcePage {
  /** From the root of the repository. */
  path: string;
  content: string;
}

/** The linked files that are not pages, and the content of linked folders. */
export function sourcePages(): SourcePage[] {
  const linked = readPages().flatMap((page) =>
    relativeLinks(page).map(({ url }) => pathBehind(linkOnSite(page.path, url))),
  );
  const paths = new Set(linked.flatMap((path) => (path === undefined ? [] : withContents(path))));
  return [...paths]
    .sort()
    .map((path) => ({ path, content: isFolder(path) ? folder(path) : file(path) }));
}

/** The path of a source whose address this is. */
function pathBehind(address: string): string | undefined {
  const [, path] = /^\/docs\/source\/(.+)\.md$/.exec(address) ?? [];
  return path !== undefined && !/\.(png|svg)$/.test(path) ? path : undefined;
}

function withContents(path: string): string[] {
  return isFolder(path)
    ? [path, ...childrenOf(path).flatMap((name) => withContents(posix.join(path, name)))]
    : [path];
}

function childrenOf(path: string): string[] {
  return readdirSync(join(REPOSITORY, path)).filter(
    (name) =>
      !name.startsWith('.') && !['node_modules', 'dist'].includes(name) && !name.endsWith('.md'),
  );
}

function folder(path: string): string {
  const rows = childrenOf(path).map((name) => {
    const child = posix.join(path, name);
    return `- [\`${name}${isFolder(child) ? '/' : ''}\`](${addressOf(child)})`;
  });
  return [`# ${path}`, ...rows].join('\n');
}

function file(path: string): string {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  return `# ${basename(path)}\n\n\`${path}\`\n\n\`\`\`\`${SHOWN_AS[extname(path)] ?? 'text'}\n${text}\n\`\`\`\``;
}
