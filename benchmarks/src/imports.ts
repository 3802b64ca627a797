import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytes, median, nanoseconds, printTable } from './side-by-side.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const ROUNDS = 9;
const BARE = 'an empty module';

/** What is imported, built, as a program would. */
const IMPORTS: Record<string, string | undefined> = {
  [BARE]: undefined,
  '@ethosagent/types': 'packages/types/dist/index.js',
  '@ethosagent/plugin-sdk': 'packages/plugin-sdk/dist/index.js',
  '@ethosagent/core': 'packages/core/dist/index.js',
  '@ethosagent/wiring': 'packages/wiring/dist/index.js',
  '@ethosagent/wiring/agent': 'packages/wiring/dist/agent/index.js',
  '@ethosagent/tools-file': 'extensions/tools-file/dist/index.js',
  '@ethosagent/tools-web': 'extensions/tools-web/dist/index.js',
  'ai (AI SDK)': 'benchmarks/node_modules/ai/dist/index.mjs',
  zod: 'benchmarks/node_modules/zod/index.js',
};

const SCRIPT = `
const [file] = process.argv.slice(1);
await import('data:text/javascript,export default 1');
const memory = process.memoryUsage().rss;
const before = process.cpuUsage();
await import(file);
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify([(user + system) * 1e3, process.memoryUsage().rss - memory]));
`;

/** What an import costs a new process: processor time, and memory. */
export async function run(): Promise<void> {
  const names = Object.keys(IMPORTS);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  const sizes = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, file] of Object.entries(IMPORTS)) {
      const [time, size] = cost(
        file === undefined ? 'data:text/javascript,' : join(repository, file),
      );
      times.get(name)?.push(time);
      sizes.get(name)?.push(size);
    }
  }
  const contenders = names.map((name) => ({ name, ...(name !== BARE && { beside: BARE }) }));
  const title = `Import, in a process of its own, ${ROUNDS} times`;
  printTable(`${title}: processor time`, contenders, {
    samples: times,
    pick: median,
    unit: nanoseconds,
  });
  printTable(`${title}: resident memory`, contenders, {
    samples: sizes,
    pick: median,
    unit: bytes,
  });
}

function cost(file: string): [time: number, size: number] {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, file],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${file} can't be imported: ${stderr}`);
  return JSON.parse(stdout);
}
