import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';

/** Something to read whose text is known. */
export interface Article {
  name: string;
  title: string;
  /** Without a heading of its own. */
  html: string;
}

const MIN_CHARS = 4_000;
const MAX_CHARS = 60_000;

/**
 * The READMEs of the packages that a repository has installed, as HTML: prose, lists, tables and
 * code of many authors.
 *
 * @param root with a `node_modules/.pnpm` folder
 */
export function articlesOf(root: string, count: number): Article[] {
  const markdown = new MarkdownIt({ html: false });
  const store = join(root, 'node_modules/.pnpm');
  const files = readdirSync(store)
    .filter((name) => /^[a-z]/.test(name) && name.includes('@'))
    .sort()
    .flatMap((name) => {
      const [bare = ''] = name.split('@');
      return [{ name, file: join(store, name, 'node_modules', bare, 'README.md') }];
    });
  const found: Article[] = [];
  for (const { name, file } of files) {
    const text = readIfThere(file)?.replaceAll(/<[^>\n]{1,300}>|^\s*\[?!\[.*$/gm, '') ?? '';
    if (text.length < MIN_CHARS || text.length > MAX_CHARS) continue;
    const title = /^#\s+(.+)$/m.exec(text)?.[1]?.replaceAll(/[`*_[\]]/g, '') ?? name;
    found.push({ name, title, html: markdown.render(text.replace(/^#\s+.+$/m, '')) });
  }
  const stride = Math.max(1, Math.floor(found.length / count));
  return found.filter((_, at) => at % stride === 0).slice(0, count);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
