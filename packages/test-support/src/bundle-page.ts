import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Builds a page from its sources, and those of the packages that it imports, so that a stale build
 * can't pass.
 *
 * @param files what becomes of each file, by its name without its ending
 * @param folder where they are put, each at once and in whole
 */
export async function bundlePage(files: Readonly<Record<string, URL>>, folder: URL): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: Object.entries(files).map(([out, file]) => ({ in: fileURLToPath(file), out })),
    outdir: fileURLToPath(folder),
    bundle: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    minify: true,
    tsconfig: join(root, 'tsconfig.sources.json'),
    loader: { '.html': 'copy', '.svg': 'copy' },
  });
  await stop();
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    const made = join(root, 'node_modules', '.cache', `${basename(path)}-${process.pid}`);
    mkdirSync(join(made, '..'), { recursive: true });
    writeFileSync(made, contents);
    renameSync(made, path);
  }
}
