import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Starts a process that swaps `arena/leaf` and `arena/folder` for links to `outside` and back, so
 * many times. It ends with 0 when it could make more than half of the swaps.
 */
export function startSwapper(arena: string, outside: string, swaps: number): ChildProcess {
  return spawn(process.execPath, ['-e', PROGRAM, arena, outside, String(swaps)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

// A text, because a file would have to be found from the sources and from the build alike.
const PROGRAM = `
const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const [arena, outside, swaps] = process.argv.slice(1);
const leaf = join(arena, 'leaf');
const folder = join(arena, 'folder');
const aside = join(arena, 'aside');
const planted = join(arena, 'planted');

let whole = 0;
for (let swap = 0; swap < Number(swaps); swap += 1) {
  // The other side works in the same folders, and may be in the way of any step.
  if (attempt(swapOnce)) whole += 1;
}
process.exitCode = whole > Number(swaps) / 2 ? 0 : 1;

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
