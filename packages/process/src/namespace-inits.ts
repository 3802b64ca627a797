import { readdirSync, readFileSync } from 'node:fs';

/** One particular process: another one may get its id later. */
export interface KnownProcess {
  pid: number;
  /** When it began, in ticks of the kernel. */
  start: string;
}

/**
 * The first process of each namespace of process ids below the process that makes a sandbox. They
 * are its children, as long as no command has begun in the sandbox.
 *
 * The kernel ends everything in such a namespace when its first process ends. That process asks the
 * kernel to end it together with its parent. But a command in the sandbox that traces it can make
 * it take this back. It can't refuse a signal from outside.
 */
export function namespaceInits(pid: number): KnownProcess[] {
  if (process.platform !== 'linux') return [];
  return childrenOf(pid).flatMap((child) => {
    const start = statOf(child)?.start;
    return start === undefined ? [] : [{ pid: child, start }];
  });
}

/** Ends each process, unless it is gone and its id belongs to another. */
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
    // Not every kernel has this list.
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
