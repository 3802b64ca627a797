import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../process-tree.js';

const GROUPS = '/sys/fs/cgroup';
const NAME = /^ethos-(\d+)-\d+$/;

// After a namespace was killed, it takes a moment until its last process is gone.
const REMOVE_EVERY_MS = 50;
const REMOVE_TRIES = 100;

let parent: string | undefined | null = null;
let made = 0;

/** A control group that limits the number of its processes and threads. */
export interface TaskGroup {
  /** A command that enters the group and then runs another command. */
  enter: readonly string[];
  /** Removes the group after everything in it has ended. */
  release(): void;
}

/**
 * Makes a group of at most `max` processes and threads. The kernel does not apply `RLIMIT_NPROC` to
 * root, so this replaces it.
 *
 * @returns `undefined` if this process is not root, or may not make control groups
 */
export function createTaskGroup(max: number): TaskGroup | undefined {
  if (process.getuid?.() !== 0) return undefined;
  parent = parent === null ? groupOfThisProcess() : parent;
  if (parent === undefined) return undefined;
  const folder = join(parent, `ethos-${process.pid}-${++made}`);
  try {
    mkdirSync(folder);
    // The two processes of bubblewrap are in the group as well.
    writeFileSync(join(folder, 'pids.max'), String(max + 2));
  } catch {
    remove(folder);
    return undefined;
  }
  return {
    enter: ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(folder, 'cgroup.procs')],
    release: () => removeWhenEmpty(folder, REMOVE_TRIES),
  };
}

/** The folder of this process in the hierarchy that counts tasks, version 1 or 2. */
function groupOfThisProcess(): string | undefined {
  try {
    const lines = readFileSync('/proc/self/cgroup', 'latin1').split('\n');
    const counting = lines.find((line) => line.split(':')[1]?.split(',').includes('pids'));
    const [hierarchy, , path = ''] = (counting ?? lines[0] ?? '').split(':');
    const folder = join(GROUPS, hierarchy === '0' ? '' : 'pids', path);
    sweep(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/** Removes groups of hosts that were killed. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(folder, name));
  }
}

function removeWhenEmpty(folder: string, tries: number): void {
  if (remove(folder) || tries === 0) return;
  setTimeout(() => removeWhenEmpty(folder, tries - 1), REMOVE_EVERY_MS).unref();
}

function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
