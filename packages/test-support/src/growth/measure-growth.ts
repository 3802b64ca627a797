// Measures what a bundle says, at the sizes of the command line, and prints the counts. The engine counts blocks
// only in code that it compiles after it was asked to, so the bundle is loaded here.
import { Session } from 'node:inspector/promises';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { countNatives, type NativeWork } from './natives.js';

/** Work of one run: counts that neither the machine nor its load can change. */
export interface Work extends NativeWork {
  /** Calls of functions, and runs of blocks, in the program and the libraries in its bundle. */
  blocks: number;
  /** What the run counted itself: the number that it gave. */
  counted: number;
}

/** What something took at each of some sizes. */
export interface Growth {
  name: string;
  measured: Array<{ size: number; work: Work }>;
}

/**
 * What is measured, by its name: prepares it for a size, and gives the function whose work counts.
 */
export type Measured = Record<string, (size: number) => (() => unknown) | Promise<() => unknown>>;

/** Gives a function that tells how many blocks ran since it was called last. */
async function countBlocks(bundle: string): Promise<() => Promise<number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const folder = pathToFileURL(dirname(bundle)).href;
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    let blocks = 0;
    for (const { url, functions } of result) {
      if (!url.startsWith(folder)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
    return blocks;
  };
}

/** What is looked at anew after some time must not depend on how fast the machine is. */
function stopClocks(): void {
  const [time, sinceStart] = [Date.now(), performance.now()];
  Date.now = () => time;
  performance.now = () => sinceStart;
}

async function measure(bundle: string, sizes: readonly number[]): Promise<Growth[]> {
  const blocksRun = await countBlocks(bundle);
  const nativeWork = await countNatives();
  stopClocks();
  const { measured }: { measured: Measured } = await import(pathToFileURL(bundle).href);
  const growths: Growth[] = [];
  for (const [name, prepare] of Object.entries(measured)) {
    // A first run fills the caches of the process, and those of no size that counts.
    await (await prepare((sizes[0] ?? 2) - 1))();
    const growth: Growth = { name, measured: [] };
    for (const size of sizes) {
      const run = await prepare(size);
      await blocksRun();
      let told: unknown;
      const natives = await nativeWork(async () => {
        told = await run();
      });
      const counted = typeof told === 'number' ? told : 0;
      growth.measured.push({ size, work: { blocks: await blocksRun(), counted, ...natives } });
    }
    growths.push(growth);
  }
  return growths;
}

const [bundle = '', ...sizes] = process.argv.slice(2);
try {
  const growths = await measure(bundle, sizes.map(Number));
  // What was measured may hold on to timers and files.
  process.stdout.write(JSON.stringify(growths), () => process.exit(0));
} catch (error) {
  // By itself, Node would show the line of the bundle, which is all of it.
  process.stderr.write(`${inspect(error)}\n`, () => process.exit(1));
}
