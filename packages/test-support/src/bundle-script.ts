import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Metafile, type OutputFile, type Plugin, stop } from 'esbuild';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const scripts = join(root, 'node_modules', '.cache', 'scripts');
const tsconfig = join(root, 'tsconfig.sources.json');

/** The bundle of each script in this worker. Several test files ask for the same ones. */
const bundles = new Map<string, Promise<string>>();

/**
 * Bundles a script of TypeScript, with the sources of the packages that it imports, for Node to
 * start by itself: in a fifth of the processor time that `tsx` takes for each start. A bundle is
 * used again by whoever asks for it, until one of its sources changes.
 *
 * @param script its `file:` URL
 * @returns the path of the bundle
 */
export async function bundleScript(script: URL): Promise<string> {
  const path = fileURLToPath(script);
  const known = bundles.get(path) ?? bundleOnce(path);
  bundles.set(path, known);
  return known;
}

/** What a bundle was made from. If that has changed, the bundle is made again. */
interface Manifest {
  bundle: string;
  sources: Readonly<Record<string, string>>;
}

async function bundleOnce(path: string): Promise<string> {
  return readBundle(path) ?? (await bundleTogether([path])).get(path) ?? '';
}

/** The bundle of a script, if its sources have not changed since. */
function readBundle(path: string): string | undefined {
  const manifest = manifestOf(path);
  if (!existsSync(manifest)) return undefined;
  const { bundle, sources }: Manifest = JSON.parse(readFileSync(manifest, 'utf8'));
  const isUnchanged = Object.entries(sources).every(([file, was]) => stateOf(file) === was);
  return isUnchanged && existsSync(bundle) ? bundle : undefined;
}

const manifestOf = (path: string) =>
  join(scripts, `${createHash('sha256').update(path).digest('hex')}.json`);

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.size}`;
}

/**
 * Bundles scripts for `bundleScript`, all with one start of the bundler, which reads once what they
 * share.
 *
 * @param paths of the scripts
 * @returns the path of each bundle
 */
export async function bundleTogether(paths: readonly string[]): Promise<Map<string, string>> {
  const { outputFiles, metafile } = await build({
    entryPoints: paths.map((path) => ({ in: path, out: nameOf(path) })),
    bundle: true,
    // What is imported only at its use gets a file of its own, which most starts don't read.
    splitting: true,
    absWorkingDir: root,
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Smaller, since each start compiles all of it.
    minifySyntax: true,
    minifyWhitespace: true,
    // Avoids the UMD version of a package.
    mainFields: ['module', 'main'],
    tsconfig,
    plugins: [optionalPackages, ownUrls, ownModules],
    // CommonJS modules in the bundle need `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  });
  await stop();
  const folder = writeOnce(outputFiles);
  const bundles = new Map<string, string>();
  for (const path of paths) {
    const bundle = join(folder, `${nameOf(path)}.mjs`);
    const sources = [...sourcesOf(relative(root, path), metafile)].map((file) => join(root, file));
    const made: Manifest = {
      bundle,
      sources: Object.fromEntries([...sources, tsconfig].map((file) => [file, stateOf(file)])),
    };
    writeFileSync(`${manifestOf(path)}.${process.pid}`, JSON.stringify(made));
    renameSync(`${manifestOf(path)}.${process.pid}`, manifestOf(path));
    bundles.set(path, bundle);
  }
  return bundles;
}

const nameOf = (path: string) => relative(root, path).replace(/\.ts$/, '').replaceAll('/', '-');

/** A file and everything that it imports. */
function sourcesOf(file: string, metafile: Metafile, found = new Set<string>()): Set<string> {
  found.add(file);
  for (const { path, external } of metafile.inputs[file]?.imports ?? []) {
    if (external !== true && !found.has(path)) sourcesOf(path, metafile, found);
  }
  return found;
}

/** Writes files into a folder whose name is a digest of their content. */
function writeOnce(files: readonly OutputFile[]): string {
  const hash = createHash('sha256');
  for (const { text } of files) hash.update(text);
  const folder = join(scripts, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  // Several workers may write it at the same time. It is renamed when it is complete.
  const own = `${folder}.${process.pid}`;
  mkdirSync(own, { recursive: true });
  for (const { path, text } of files) writeFileSync(join(own, basename(path)), text);
  try {
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(own, { recursive: true });
  }
  return folder;
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

/**
 * Bundles a program with all packages that it imports, as they were built, into one file. Native
 * modules stay outside.
 *
 * @param program its `file:` URL
 * @param bundle the path of the JavaScript
 * @param outside packages that stay outside, too
 * @returns the folders from which the bundle has files, from the folder of the repository
 */
export async function bundleProgram(
  program: URL,
  bundle: string,
  outside: readonly string[] = [],
): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(program)],
    outfile: bundle,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    metafile: true,
    external: ['better-sqlite3', ...outside],
    logLevel: 'error',
    // CommonJS modules in the bundle need `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  });
  await stop();
  return [...new Set(Object.keys(metafile.inputs).map((file) => dirname(file)))].sort();
}

/** Bundles every optional package of `wiring`, which leaves them to the program that it is part of. */
const optionalPackages: Plugin = {
  name: 'optional-packages',
  setup({ onLoad }) {
    onLoad({ filter: /\/wiring\/src\/optional-packages\.ts$/ }, ({ path }) => {
      const named = readFileSync(path, 'utf8').matchAll(/typeof (import\('[^']+'\))/g);
      const all = [...named].map(([, load = '']) => `${load.slice(7, -1)}: () => ${load}`);
      const contents = `const all = { ${all.join(', ')} };
        export const importOptional = async (name) => all[name]();`;
      return { contents, loader: 'js', resolveDir: dirname(path) };
    });
  },
};

/** Keeps the own `import.meta.url` of each source of this repository. */
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

/**
 * Loads modules with native code, and modules that are too large for a bundle, from the importing
 * package.
 */
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
