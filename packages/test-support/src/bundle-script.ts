import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Bundles a script of TypeScript, with the sources of the packages that it imports, for Node to
 * start by itself: in a fifth of the processor time that `tsx` takes for each start.
 *
 * @param script its `file:` URL
 * @returns the path of the bundle
 */
export async function bundleScript(script: URL): Promise<string> {
  const path = fileURLToPath(script);
  const name = basename(path, '.ts');
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    // What is imported only when it is used is a file of its own, which most starts don't read.
    splitting: true,
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Not the UMD of a package that has both.
    mainFields: ['module', 'main'],
    tsconfig: join(root, 'tsconfig.sources.json'),
    plugins: [ownUrls, ownModules],
    // What it bundles may be CommonJS.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  });
  await stop();
  const hash = createHash('sha256');
  for (const { text } of outputFiles) hash.update(text);
  const scripts = join(root, 'node_modules', '.cache', 'scripts');
  const folder = join(scripts, `${name}-${hash.digest('hex').slice(0, 16)}`);
  const bundle = join(folder, `${name}.mjs`);
  if (existsSync(folder)) return bundle;
  // Several workers may write it at once; it is there in whole, or not at all.
  const own = `${folder}.${process.pid}`;
  mkdirSync(own, { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(join(own, basename(path)), text);
  try {
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(own, { recursive: true });
  }
  return bundle;
}

/**
 * What Node loads with a module of a program, before any `import()` runs.
 *
 * @param program its `file:` URL
 * @returns of a module of it: the paths of sources from the folder of the program, and the names of
 * packages and built-in modules, sorted
 */
export async function moduleGraph(program: URL): Promise<(module: URL) => string[]> {
  const folder = fileURLToPath(new URL('.', program));
  const { metafile } = await build({
    entryPoints: [fileURLToPath(program)],
    absWorkingDir: folder,
    bundle: true,
    packages: 'external',
    metafile: true,
    write: false,
    outdir: '.',
    platform: 'node',
    format: 'esm',
  });
  await stop();
  return (module) => {
    const loaded = new Set<string>();
    const load = (name: string) => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const { path, kind } of metafile.inputs[name]?.imports ?? [])
        if (kind !== 'dynamic-import') load(path);
    };
    load(relative(folder, fileURLToPath(module)));
    return [...loaded].sort();
  };
}

/**
 * Turns a program of TypeScript into JavaScript, for Node to start by itself: its own files become
 * one, and packages stay imports, of what was built.
 *
 * @param program its `file:` URL
 * @param bundle the path of the JavaScript, from where its imports resolve
 */
export async function compileProgram(program: URL, bundle: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(program)],
    outfile: bundle,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'inline',
    plugins: [ownUrls],
  });
  await stop();
}

/** Has each source of this repository keep its own `import.meta.url`. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\/(packages|extensions|examples)\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'ts',
    }));
  },
};

/** Loads modules with native code, or too large for a bundle, from where the importing package has them. */
const ownModules: Plugin = {
  name: 'own-modules',
  setup({ onResolve, resolve }) {
    const filter = /^(better-sqlite3|playwright-core)$/;
    onResolve({ filter }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === ownModules) return undefined;
      const found = await resolve(path, { importer, resolveDir, kind, pluginData: ownModules });
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};
