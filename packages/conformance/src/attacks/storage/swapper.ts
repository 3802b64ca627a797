import { type ChildProcess, spawn } from 'node:child_process';

/** The most rounds. A caller that has met no swap until then is wrong, so its test fails. */
const MOST_ROUNDS = 1000;

/** A process that replaces files by links. */
export interface Swapper {
  process: ChildProcess;
  /** Ends the process after the present round. Without this it ends after 1,000 rounds. */
  stop(): void;
}

/**
 * Starts a process that replaces `arena/leaf` and `arena/folder` by links to `outside` and back, in
 * rounds of `swaps`. Its exit code is 0 if more than half of the swaps succeeded.
 */
export function startSwapper(arena: string, outside: string, swaps: number): Swapper {
  const child = spawn(
    process.execPath,
    ['-e', PROGRAM, arena, outside, String(swaps), String(MOST_ROUNDS)],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  return { process: child, stop: () => child.stdin.end() };
}

// A text: a file would have another path in the sources than in the build.
const PROGRAM = `
const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const [arena, outside, swaps, mostRounds] = process.argv.slice(1);
const leaf = join(arena, 'leaf');
const folder = join(arena, 'folder');
const aside = join(arena, 'aside');
const planted = join(arena, 'planted');

let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

let whole = 0;
swapRound(1);

function swapRound(round) {
  for (let swap = 0; swap < Number(swaps); swap += 1) {
    // The other side works in the same folders, and may be in the way of any step.
    if (attempt(swapOnce)) whole += 1;
  }
  // The end of the input is seen between rounds only.
  setImmediate(() => {
    if (!isOver && round < Number(mostRounds)) return swapRound(round + 1);
    process.exit(whole > (round * Number(swaps)) / 2 ? 0 : 1);
  });
}

function swapOnce() {
  replaceByLink(leaf, join(outside, 'secret'));
  writeFileSync(planted, 'hello');
  renameSync(planted, leaf);

  rmSync(aside, { recursive: true, force: true });
  attempt(() => renameSync(folder, aside));
  replaceByLink(folder, outside);
  rmSync(folder, { recursive: true, force: true });
  attempt(() => renameSync(aside, folder));
  attempt(() => mkdirSync(folder));
  attempt(() => writeFileSync(join(folder, 'secret'), 'hello', { flag: 'wx' }));
}

function replaceByLink(path, target) {
  rmSync(planted, { recursive: true, force: true });
  symlinkSync(target, planted);
  // The other side may have made a folder in the moment in which there was none.
  if (!attempt(() => renameSync(planted, path))) {
    rmSync(path, { recursive: true, force: true });
    attempt(() => renameSync(planted, path));
  }
}

function attempt(operation) {
  try {
    operation();
    return true;
  } catch {
    return false;
  }
}
`;
