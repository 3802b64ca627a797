import { readFile } from 'node:fs/promises';

/** The files of the page, by their paths. */
const FILES: ReadonlyMap<string, readonly [name: string, type: string]> = new Map([
  ['/', ['index.html', 'text/html; charset=utf-8']],
  ['/app.js', ['app.js', 'text/javascript; charset=utf-8']],
  ['/style.css', ['style.css', 'text/css; charset=utf-8']],
  ['/icon.svg', ['icon.svg', 'image/svg+xml']],
]);

/**
 * The folder of the page, beside the built command. When run from its sources, the command uses the
 * page of the last build.
 */
export const PAGE_FOLDER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/',
  import.meta.url,
);

/** A file of the page with its media type; `undefined` if there is none at the path. */
export async function pageFile(
  path: string,
  folder: URL = PAGE_FOLDER,
): Promise<{ body: Buffer; type: string } | undefined> {
  const [name, type] = FILES.get(path) ?? [];
  if (name === undefined || type === undefined) return undefined;
  return { body: await readFile(new URL(name, folder)), type };
}
