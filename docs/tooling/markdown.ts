import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/** The root of the repository. */
export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);

/** A Markdown file. */
export interface Page {
  /** From the root of the repository, with `/`. */
  path: string;
  text: string;
  tree: Root;
}

/** Every Markdown page of the repository, or of a folder in it, in which a text stands. */
export function readPages(folder = '', text = ''): Page[] {
  return listMarkdown(join(REPOSITORY, folder))
    .filter((file) => text === '' || readFileSync(file, 'utf8').includes(text))
    .map(readPage);
}

/** The paths of those pages, from the root of the repository. */
export function pagePaths(folder = ''): string[] {
  return listMarkdown(join(REPOSITORY, folder)).map(pathOf);
}

// Many links lead to the same pages, and to parse a page is slow.
const parsed = new Map<string, Page>();

/** @param file absolute */
export function readPage(file: string): Page {
  const text = readFileSync(file, 'utf8');
  const known = parsed.get(file);
  if (known?.text === text) return known;
  const page = parsePage(pathOf(file), text);
  parsed.set(file, page);
  return page;
}

/** @param path from the root of the repository */
export function parsePage(path: string, text: string): Page {
  const tree = fromMarkdown(text, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  return { path, text, tree };
}

function pathOf(file: string): string {
  return relative(REPOSITORY, file).replaceAll('\\', '/');
}

function listMarkdown(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listMarkdown(path);
      return entry.name.endsWith('.md') ? [path] : [];
    })
    .sort();
}
