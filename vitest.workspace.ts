import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { isNode22 } from './packages/test-support/src/node-22.js';
import { isLongRun } from './packages/test-support/src/tries.js';
import { LongestFirstSequencer } from './scripts/longest-first-sequencer.js';

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

// One seed for all property tests of a run; the reporter prints it. A check has always the same one:
// what it says is about the commit, and not about luck. The long runs draw new inputs each night.
const drawn = process.env.ETHOS_TRIES === undefined ? 1 : Math.floor(Math.random() * 2 ** 31);
const seed = process.env.ETHOS_SEED ?? String(drawn);

const include = ['{packages,extensions,examples,docs,scripts,benchmarks}/**/*.test.ts'];
// Mastra can't be loaded on an older Node: there `scripts/node-22.test.ts` runs this file.
const newer = isNode22 ? [] : ['packages/adapter-mastra/src/contract.test.ts'];
// Tests of the projects that `create` writes: Node runs them there.
const written = 'packages/create/templates/**';
// All their tests are of the long run. In a check, each would start a worker for nothing, or load much.
const long = isLongRun()
  ? []
  : [
      'packages/adapter-ai-sdk/src/contract-7.test.ts',
      'packages/adapter-langchain/src/restart.test.ts',
      'packages/core/src/batch/call-costs.test.ts',
      'docs/site.test.ts',
      'packages/core/src/services/service-attacks.test.ts',
      // What is attacked there is attacked in a check through `ctx.scopedFs`.
      'packages/storage-fs/src/attacks.test.ts',
      // The same tests run in every check for requests that are sent without `fetch`.
      'packages/safety-network/src/through-fetch.test.ts',
      'extensions/tools-browser/src/browser-life.test.ts',
      'extensions/tools-mcp/src/npm-servers.test.ts',
      'benchmarks/quality/**/*.test.ts',
    ];
const exclude = ['**/node_modules/**', '**/dist/**', written, ...newer, ...long];

// Files that replace a module or a global that others hold on to. The others share the modules of
// their worker, which takes half as long.
const alone = [
  'packages/adapter-ai-sdk/src/contract-7.test.ts',
  'packages/adapter-langchain/src/restart.test.ts',
  'packages/safety-network/src/isolation.test.ts',
  'packages/safety-network/src/stubbed-fetch.test.ts',
  'packages/safety-network/src/through-fetch.test.ts',
  'packages/safety-network/src/unpinned-fetch.test.ts',
  // It collects garbage many times, which takes long where the heap holds the modules of other files.
  'packages/core/src/batch/call-costs.test.ts',
  // It counts the threads that are kept, and other files leave some behind.
  'extensions/tools-web/src/run-thread.test.ts',
];

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: {
          root,
          name: 'shared',
          isolate: false,
          globalSetup: [join(root, 'scripts/postgres.setup.ts')],
          setupFiles: [join(root, 'scripts/property-runs.setup.ts')],
          include,
          exclude: [...exclude, ...alone],
        },
      },
      { extends: true, test: { root, name: 'alone', include: alone, exclude } },
    ],
    root,
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    env: { ETHOS_SEED: seed },
    // Packages from npm are imported as Node does it, without a proxy before each of their exports.
    deps: { interopDefault: false },
    sequence: { sequencer: LongestFirstSequencer },
    // On two processors: two of them work while the others wait. Each loads all packages once.
    maxWorkers: 4,
    // The helpers of a collector take the processor from the other workers, and more of it. What a test
    // makes is seldom needed after it: with more room for what is new, less is collected. Most code runs
    // a few times: Node 20 would optimize it early, which takes a seventh of the processor.
    execArgv: [
      '--single-threaded-gc',
      '--min-semi-space-size=64',
      '--max-semi-space-size=64',
      ...(isNode22 ? [] : ['--interrupt-budget=1000000']),
    ],
    // What hangs is ended by these; a busy machine is not to reach them.
    testTimeout: isLongRun() ? 7_200_000 : 900_000,
    hookTimeout: 900_000,
    teardownTimeout: 900_000,
    expect: { poll: { timeout: 900_000 } },
  },
});
