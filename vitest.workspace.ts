import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = dirname(fileURLToPath(import.meta.url));

// Tests run against the sources of every package, so that a stale build can't pass.
const alias = ['packages', 'extensions'].flatMap((group) =>
  readdirSync(join(root, group)).flatMap((folder) => {
    const { name, exports } = JSON.parse(
      readFileSync(join(root, group, folder, 'package.json'), 'utf8'),
    );
    return Object.entries<{ default: string }>(exports).map(([subpath, target]) => ({
      find: new RegExp(`^${name}${subpath.slice(1)}$`),
      replacement: join(
        root,
        group,
        folder,
        target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts'),
      ),
    }));
  }),
);

// One seed for all property tests of a run; the reporter prints it.
const seed = process.env.ETHOS_SEED ?? String(Math.floor(Math.random() * 2 ** 31));

export default defineConfig({
  resolve: { alias },
  test: {
    root,
    include: ['{packages,extensions,examples,docs,scripts}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    env: { ETHOS_SEED: seed },
    maxWorkers: 3,
    testTimeout: process.env.ETHOS_TRIES === 'long' ? 7_200_000 : 120_000,
    hookTimeout: 120_000,
  },
});
