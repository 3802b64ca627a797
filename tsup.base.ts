import { defineConfig } from 'tsup';

// One process builds all packages, each from its own folder.
const esbuildOptions = (options: { absWorkingDir?: string }) => {
  options.absWorkingDir = process.cwd();
};

/** The build of every package: ESM for Node 20.19 and newer. `tsc` emits the declarations. */
export const library = (entry: string[] = ['src/index.ts']) =>
  defineConfig({
    entry,
    format: 'esm',
    target: 'node20.19',
    platform: 'node',
    sourcemap: true,
    splitting: true,
    // What `tsc` emitted beside it stays.
    clean: ['!**/*.d.ts', '!**/*.tsbuildinfo'],
    dts: false,
    silent: true,
    esbuildOptions,
  });

/**
 * The build of a command's start: one file of CommonJS, with all that it imports statically. What
 * it imports later stays a module of the library, which has to name each as an entry.
 */
export const startOf = (entry: string) =>
  defineConfig({
    entry: [entry],
    format: 'cjs',
    target: 'node20.19',
    platform: 'node',
    sourcemap: true,
    splitting: false,
    clean: false,
    dts: false,
    silent: true,
    esbuildOptions,
    esbuildPlugins: [
      {
        name: 'later',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\./ }, ({ kind, path }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          ),
      },
    ],
  });

/** The build of a page for browsers: each script in one file, with all that it needs. */
export const page = (entry: Record<string, string>, outDir: string) =>
  defineConfig({
    entry,
    outDir,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    noExternal: [/.*/],
    splitting: false,
    minify: true,
    loader: { '.html': 'copy', '.svg': 'copy' },
    dts: false,
    silent: true,
    esbuildOptions,
  });
