import { spawnSync } from 'node:child_process';
import { type Compared, nanoseconds, printTable } from './side-by-side.js';

/** A process that is compared with others. */
export interface ProcessContender extends Compared {
  args: readonly string[];
}

const ROUNDS = 3;

/**
 * Starts processes in turns, and prints the least time that each took of a processor, its children
 * included. Other than the time on a clock, it hardly depends on what else the machine does.
 */
export function processesSideBySide(
  title: string,
  { node, cwd }: { node: string; cwd: string },
  contenders: readonly ProcessContender[],
): void {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, args } of contenders)
      samples.get(name)?.push(processorTime([node, ...args], cwd));
  }
  printTable(`${title}, least processor time of ${ROUNDS}`, contenders, {
    samples,
    pick: (times) => Math.min(...times),
    unit: nanoseconds,
  });
}

/** User and system time in nanoseconds. Node does not tell that of a child, the shell does. */
function processorTime(command: readonly string[], cwd: string): number {
  const script = 'exec 3>&2; TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&3';
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stderr}`);
  const [user, system] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) * 1e9;
}
