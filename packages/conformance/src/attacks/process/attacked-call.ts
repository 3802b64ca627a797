import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessLimits, ScopedProcess } from '@ethosagent/types';

/** The processes of one call, which may run any binary. */
export interface AttackedCall {
  process: ScopedProcess;
  /** Aborts the call, as the end of a turn does. */
  abort(): void;
  /** Ends the call, as the return of its tool does. */
  end(): void;
}

/** Creates the processes of a call. The paths are absolute, and without links. */
export type CreateCall = (options: {
  read: string[];
  write: string[];
  /** Paths that no process may reach, even below `read` or `write`. */
  deny: string[];
  limits?: ProcessLimits;
}) => AttackedCall;

/** The reach of a call without files. */
export const NO_FILES = { read: [], write: [], deny: [] };

/** Returns an environment with a mark, by which `survivors` finds a process and its descendants. */
export function marked(mark: string): Record<string, string> {
  return { ATTACK_MARK: mark };
}

/** Returns the ids of live processes whose command line or environment contains a mark. */
export function survivors(mark: string): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && ['cmdline', 'environ'].some((file) => holds(pid, file, mark)),
  );
}

function holds(pid: string, file: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(mark);
  } catch {
    return false;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
