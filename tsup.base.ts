import { defineConfig } from 'tsup';

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
  });
