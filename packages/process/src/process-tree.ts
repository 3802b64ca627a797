import { readdirSync, readFileSync } from 'node:fs';
import type { Marks } from './process-marks.js';

/** Milliseconds between asking a tree to end and ending it. */
export const KILL_GRACE_MS = 300;

// A process may be born while its parent is looked for, so one look that finds nothing shows
// nothing. For this long the event loop may be held by one that forks without end.
const EMPTY_LOOKS = 3;
const MAX_KILL_MS = 500;

/**
 * Ends a process tree: the group of its leader and, on Linux, every process that carries its marks,
 * wherever it went. A group that is gone is left alone: its id may be another's now. TERM first,
 * KILL after the grace time. `done` is called when the KILL has been sent.
 */
export function endProcessTree(
  leaderPid: number,
  marks: Marks,
  { hasGroup, done }: { hasGroup: boolean; done: () => void },
): void {
  if (hasGroup) send(-leaderPid, 'SIGTERM');
  signalMarked(leaderPid, marks, 'SIGTERM');
  setTimeout(() => {
    if (hasGroup) send(-leaderPid, 'SIGKILL');
    killMarked(leaderPid, marks);
    done();
  }, KILL_GRACE_MS);
}

/**
 * Ends the processes that carry marks and left every group: a daemon must not outlive its call.
 * They get `SIGTERM`, and `SIGKILL` a moment later.
 *
 * @param firstPid no process with a lower id is one of them
 * @param marks of the call
 */
export function endStragglers(firstPid: number, marks: Marks): void {
  const isLeft = () => signalMarked(firstPid, marks, 'SIGTERM') > 0;
  if (!isLeft() && !isLeft()) return;
  setTimeout(() => killMarked(firstPid, marks), KILL_GRACE_MS);
}

/** Ends groups, and the processes that carry marks, at once: for a host that ends itself. */
export function endAtOnce(leaders: Iterable<number>, marks: Marks): void {
  for (const leader of leaders) send(-leader, 'SIGKILL');
  killMarked(1, marks);
}

/** Whether there is a process of this id. */
export function isAlive(pid: number): boolean {
  return send(pid, 0);
}

/** Whether any process of the group is left, its leader's exit aside. */
export function isGroupAlive(leaderPid: number): boolean {
  return send(-leaderPid, 0);
}

function killMarked(firstPid: number, marks: Marks): void {
  const end = performance.now() + MAX_KILL_MS;
  for (let empty = 0; empty < EMPTY_LOOKS && performance.now() < end; ) {
    empty = signalMarked(firstPid, marks, 'SIGKILL') === 0 ? empty + 1 : 0;
  }
}

/**
 * Sends a signal to every process that carries the marks, the newest first. The marks of a process are
 * read right before its signal, since ids are used again: a list that was made before could hold the
 * id of a stranger. A process may fork while the list is read, so that one look is never proof: whoever
 * has to be sure looks until several looks in a row find nothing.
 */
function signalMarked(firstPid: number, marks: Marks, signal: NodeJS.Signals): number {
  if (process.platform !== 'linux') return 0;
  try {
    // Descendants have higher ids, unless the kernel began again at the bottom.
    const lowest = newestPid() >= firstPid ? firstPid : 0;
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid >= lowest && pid > 0)
      .sort((a, b) => b - a)
      .filter((pid) => marks.carries(pid) && send(pid, signal)).length;
  } catch {
    // No descriptor is left to look with. The group was signalled without.
    return 0;
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function newestPid(): number {
  return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
}
