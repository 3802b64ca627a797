import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The files and folders to replace. Names are relative to `reach` and `outside`. */
export interface SwapPlan {
  reach: string;
  outside: string;
  /** A folder on the same file system, to which the originals are moved. */
  aside: string;
  files: readonly string[];
  folders: readonly string[];
  seed: number;
}

/** Replaces files and folders by links and back, in a thread of its own, until it is stopped. */
export class Swapper {
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #worker: Worker;
  #error: unknown;

  constructor(plan: SwapPlan) {
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { ...plan, shared: this.#shared },
    });
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
  }

  /**
   * The number of swaps so far.
   * @throws the error that ended the thread
   */
  get swaps(): number {
    if (this.#error !== undefined) throw this.#error;
    return Atomics.load(this.#shared, 1);
  }

  /** Whether the thread is running. It is not if there is nothing to replace. */
  get isRunning(): boolean {
    return this.#worker.threadId >= 0;
  }

  /** Stops when everything is back in its place. */
  async stop(): Promise<void> {
    Atomics.store(this.#shared, 0, 1);
    if (this.isRunning) await once(this.#worker, 'exit');
  }
}

// A text: a file would have another path in the sources than in the build.
const PROGRAM = `
const { workerData } = require('node:worker_threads');
const fs = require('node:fs');
const { dirname, join, relative } = require('node:path');
const { reach, outside, aside, files, folders, shared } = workerData;
let state = workerData.seed >>> 0;
let made = 0;

const below = (count) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * count);
};
const attempt = (run) => {
  try {
    run();
    return true;
  } catch {
    return false;
  }
};
const pause = () => Atomics.wait(shared, 0, 0, below(3) / 4);

function swap(name, isFolder) {
  const place = join(reach, name);
  const saved = join(aside, 'saved');
  const link = join(aside, 'link');
  const away = join(outside, name);
  const target = [
    away,
    relative(dirname(place), away),
    away,
    join(outside, 'new-' + made),
    place,
    isFolder ? dirname(away) : away,
  ][below(6)];
  attempt(() => fs.rmSync(link, { force: true }));
  fs.symlinkSync(target, link);
  if (!attempt(() => fs.renameSync(place, saved))) return;
  attempt(() => fs.renameSync(link, place));
  pause();
  // The tool may have put something in its place, or go on doing so.
  for (let tries = 0; tries < 1000; tries += 1) {
    attempt(() => fs.rmSync(place, { recursive: true, force: true }));
    attempt(() => fs.mkdirSync(dirname(place), { recursive: true }));
    if (attempt(() => fs.renameSync(saved, place))) return;
  }
  throw new Error(name + ' could not be put back');
}

while (Atomics.load(shared, 0) === 0) {
  const isFolder = folders.length > 0 && below(2) === 0;
  const names = isFolder ? folders : files;
  if (names.length === 0) break;
  swap(names[below(names.length)], isFolder);
  made += 1;
  Atomics.add(shared, 1, 1);
  pause();
}
`;
