import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BIN, headersOf } from './fresh-folder.js';
import { timedStep, withLocalRelease } from './local-release.js';
import { nodeOf, runBy, runNpm } from './nodes.js';
import { type Quickstart, readQuickstarts } from './quickstarts.js';

// `pnpm release:first-calls`: how long each quickstart takes until a call was allowed and one was denied, typed
// without a pause into an empty folder.

/** The oldest that every framework runs on. */
const NODE = 22;

export interface FirstCalls {
  page: string;
  /** Seconds of `npm install`, `ethosagent init` and the program. */
  install: number;
  init: number;
  program: number;
  /** Whether it printed what the page says, with an allowed and a denied call. */
  asThePageSays: boolean;
}

export interface FirstCallsOptions {
  /** It does not exist yet. */
  folder: string;
  registry: string;
  version: string;
}

/** @throws where a command of the page fails, with what it wrote */
export async function timeFirstCalls(
  { page, packages, program, output }: Quickstart,
  { folder, registry, version }: FirstCallsOptions,
): Promise<FirstCalls> {
  mkdirSync(folder, { recursive: true });
  const within = { cwd: folder };
  const node = await nodeOf(NODE);
  writeFileSync(join(folder, '.npmrc'), `@ethosagent:registry=${registry}\n`);
  writeFileSync(join(folder, 'first.mjs'), program);
  const wanted = packages.map((name) =>
    name.startsWith('@ethosagent/') ? `${name}@${version}` : name,
  );
  const install = await secondsOf(() =>
    runNpm(node, ['install', '--no-audit', '--no-fund', ...headersOf(node), ...wanted], within),
  );
  const init = await secondsOf(() => runBy(node, [BIN, 'init', '--yes'], within));
  let printed = '';
  const run = await secondsOf(async () => {
    printed = await runBy(node, ['first.mjs'], within);
  });
  const asThePageSays =
    printed === output && /wheel barrow/.test(printed) && /PATH_NOT_REACHABLE/.test(printed);
  return { page, install, init, program: run, asThePageSays };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const log = (line: string) => process.stdout.write(`${line}\n`);
  await withLocalRelease(timedStep(log), async ({ world, registry, version }) => {
    log(
      '\n| quickstart | install, s | init, s | program, s | both calls after, s | as the page says |',
    );
    log('|---|---|---|---|---|---|');
    for (const quickstart of readQuickstarts()) {
      const folder = join(world, 'first-calls', quickstart.page);
      const each = await timeFirstCalls(quickstart, { folder, registry, version });
      const times = [
        each.install,
        each.init,
        each.program,
        each.install + each.init + each.program,
      ];
      const cells = times.map((seconds) => seconds.toFixed(1)).join(' | ');
      log(`| ${each.page} | ${cells} | ${each.asThePageSays ? 'yes' : 'no'} |`);
    }
  });
}
