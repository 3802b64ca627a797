import { readdirSync, readFileSync } from 'node:fs';

/** One process, not another that got its id later. */
export interface KnownProcess {
  pid: number;
  /** When it began, in the kernel's ticks. */
  start: string;
}

/**
 * The children of a process that makes a sandbox, as long as no command has begun in it: the first
 * process of each namespace of process ids. What is in such a namespace ends with its first
 * process. That one is to end when the process that made it does, and asks for it itself: a command
 * in the sandbox that traces it can make it take that back. A signal from outside it can't refuse.
 */
export function namespaceInits(pid: number): KnownProcess[] {
  if (process.platform !== 'linux') return [];
  return childrenOf(pid).flatMap((child) => {
    const start = statOf(child)?.start;
    return start === undefined ? [] : [{ pid: child, start }];
  });
}

/** Ends what still is the process that was known. */
export function endKnown(processes: readonly KnownProcess[]): void {
  for (const { pid, start } of processes) {
    if (statOf(pid)?.start !== start) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .map(Number)
      .filter((child) => child > 1);
  } catch {
    // Not every kernel lists them.
    return readdirSync('/proc')
      .map(Number)
      .filter((child) => child > 1 && statOf(child)?.parent === pid);
  }
}

function statOf(pid: number): { parent: number; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const start = fields[19];
    return start === undefined ? undefined : { parent: Number(fields[1]), start };
  } catch {
    return undefined;
  }
}
