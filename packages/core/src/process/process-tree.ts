import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds between asking a tree to end and ending it. */
export const KILL_GRACE_MS = 300;

/** The variable by which descendants are found that left the process group. */
export const TAG_VARIABLE = 'ETHOS_CALL_TAG';

// A process may be born while its parent is looked for. Each round finds what the last one missed.
const KILL_ROUNDS = 5;

/**
 * Ends a process tree: the group of its leader and, on Linux, every process whose tag starts with
 * `tag`, wherever it went. TERM first, KILL after the grace time. `done` is called when the KILL
 * has been sent.
 */
export function endProcessTree(leaderPid: number, tag: string, done: () => void): void {
  send(-leaderPid, 'SIGTERM');
  signalTagged(leaderPid, tag, 'SIGTERM');
  setTimeout(() => {
    send(-leaderPid, 'SIGKILL');
    killTagged(leaderPid, tag);
    done();
  }, KILL_GRACE_MS);
}

/** Ends the processes that carry a tag and left every group: a daemon must not outlive its call. */
export function endStragglers(firstPid: number, tag: string): void {
  if (signalTagged(firstPid, tag, 'SIGTERM') === 0) return;
  setTimeout(() => killTagged(firstPid, tag), KILL_GRACE_MS);
}

/** Whether any process of the group is left, its leader's exit aside. */
export function isGroupAlive(leaderPid: number): boolean {
  return send(-leaderPid, 0);
}

function killTagged(firstPid: number, tag: string): void {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if (signalTagged(firstPid, tag, 'SIGKILL') === 0) return;
  }
}

function signalTagged(firstPid: number, tag: string, signal: NodeJS.Signals): number {
  const pids = taggedProcesses(firstPid, tag);
  for (const pid of pids) send(pid, signal);
  return pids.length;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function taggedProcesses(firstPid: number, tag: string): number[] {
  if (process.platform !== 'linux') return [];
  const needle = `${TAG_VARIABLE}=${tag}`;
  try {
    // Descendants have higher ids, unless the kernel began again at the bottom.
    const lowest = newestPid() >= firstPid ? firstPid : 0;
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid >= lowest && pid > 0 && environmentOf(pid).includes(needle));
  } catch {
    // No descriptor is left to look with. The group was signalled without.
    return [];
  }
}

function newestPid(): number {
  return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
