import { readdirSync, readFileSync } from 'node:fs';
import type { Marks } from './process-marks.js';

/** How many milliseconds a process tree gets to end by itself before it is killed. */
export const KILL_GRACE_MS = 300;

// A process may start while the list of processes is read. So a single look that finds nothing
// proves nothing. A process that forks without end may keep the event loop busy for this long.
const EMPTY_LOOKS = 3;
const MAX_KILL_MS = 500;

/**
 * Ends a process tree: the group of its leader and, on Linux, every process that carries its marks,
 * wherever it went. A group that no longer exists is not signalled, since its id may now belong to
 * another one. Sends TERM first, and KILL after the grace time. `done` is called when the KILL has
 * been sent.
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
 * Ends the processes of a call that have left every group, since a daemon must not outlive its
 * call. They get `SIGTERM`, and 300 milliseconds later `SIGKILL`.
 *
 * @param firstPid the lowest process id that may belong to the call
 * @param marks the marks of the call
 */
export function endStragglers(firstPid: number, marks: Marks): void {
  const isLeft = () => signalMarked(firstPid, marks, 'SIGTERM') > 0;
  if (!isLeft() && !isLeft()) return;
  setTimeout(() => killMarked(firstPid, marks), KILL_GRACE_MS);
}

/**
 * Ends groups, and the processes that carry marks, without a grace time. For a host that is about
 * to exit.
 */
export function endAtOnce(leaders: Iterable<number>, marks: Marks): void {
  for (const leader of leaders) send(-leader, 'SIGKILL');
  killMarked(1, marks);
}

export function isAlive(pid: number): boolean {
  return send(pid, 0);
}

/** Whether any process of the group is left, except for a leader that has exited. */
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
 * Sends a signal to every process that carries the marks, the newest first.
 *
 * The invariant: the marks of a process are read right before its signal. The kernel reuses ids, so
 * a list that was made earlier could hold the id of a stranger. A process may fork while the list
 * is read, so one look proves nothing. Who has to be sure looks until several looks in a row find
 * nothing.
 */
function signalMarked(firstPid: number, marks: Marks, signal: NodeJS.Signals): number {
  if (process.platform !== 'linux') return 0;
  try {
    // Descendants have higher ids, unless the kernel's ids have wrapped around.
    const lowest = newestPid() >= firstPid ? firstPid : 0;
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid >= lowest && pid > 0)
      .sort((a, b) => b - a)
      .filter((pid) => marks.carries(pid) && send(pid, signal)).length;
  } catch {
    // No descriptor is free to read the list. The group was signalled without it.
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
