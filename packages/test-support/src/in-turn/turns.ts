// Runs the modules of a list one after another in this process, so that the packages are loaded
// once. Each has a working directory, a home and the globals of a new process, and its own output.
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import type { Outcome } from './outcome.js';
import type { Place } from './place.js';

/** An entry of the list: a module with its folders. */
export interface Turn extends Place {
  file: string;
}

// A module that keeps the process busy for longer must run by itself, and so must those after it.
const LONGEST_WAIT_MS = 20_000;
// A module that waits leaves the processor to others.
const LONGEST_PAUSE_MS = 50;

const [list = '', outcomes = ''] = process.argv.slice(2);
const turns: Turn[] = JSON.parse(readFileSync(list, 'utf8'));
// biome-ignore lint/style/noProcessEnv: the environment that each module begins with
const environment = { ...process.env };
const globals = Object.getOwnPropertyDescriptors(globalThis);
let fail = (_error: unknown): void => {};
process.on('uncaughtException', (error) => fail(error));
// A package that asks whether the input is a terminal opens it. Opened here, it counts for no
// module.
process.stdin.pause();

for (const turn of turns) {
  const outcome = await take(turn);
  appendFileSync(outcomes, `${JSON.stringify(outcome)}\n`);
}
// Ends what modules have left running.
process.exit();

async function take({ file, home, temporary, work }: Turn): Promise<Outcome> {
  process.env = { ...environment, HOME: home, TMPDIR: temporary };
  process.chdir(work);
  process.exitCode = undefined;
  const printed = { stdout: '', log: '' };
  const giveBack = [keep(process.stdout, printed), keep(process.stderr, printed)];
  const before = busyWith();
  try {
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    await Promise.race([import(pathToFileURL(file).href), failed]);
    await Promise.race([untilIdle(before), failed]);
    return { exitCode: Number(process.exitCode ?? 0), ...printed };
  } catch (error) {
    return { exitCode: 1, ...printed, log: printed.log + format(error) };
  } finally {
    for (const stream of giveBack) stream();
    for (const name of Object.keys(globalThis))
      if (!(name in globals)) Reflect.deleteProperty(globalThis, name);
    Object.defineProperties(globalThis, globals);
  }
}

/** Keeps what is written to a stream. The returned function restores the stream. */
function keep(stream: NodeJS.WriteStream, printed: { stdout: string; log: string }): () => void {
  const { write } = stream;
  stream.write = (text: string | Uint8Array, ...rest: unknown[]): boolean => {
    const written = String(text instanceof Uint8Array ? Buffer.from(text) : text);
    if (stream === process.stdout) printed.stdout += written;
    printed.log += written;
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  return () => {
    stream.write = write;
  };
}

/** How many resources of each kind keep this process alive. */
function busyWith(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function isBusierThan(before: ReadonlyMap<string, number>): boolean {
  return [...busyWith()].some(([kind, count]) => count > (before.get(kind) ?? 0));
}

async function untilIdle(before: ReadonlyMap<string, number>): Promise<void> {
  const begin = Date.now();
  for (let waitMs = 1; isBusierThan(before); waitMs = Math.min(2 * waitMs, LONGEST_PAUSE_MS)) {
    if (Date.now() - begin > LONGEST_WAIT_MS) process.exit(1);
    await setTimeout(waitMs);
  }
}
