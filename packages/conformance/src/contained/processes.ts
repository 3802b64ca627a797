import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the ids of processes with a mark in their environment; none without `/proc`. */
export function markedProcesses(mark: string): number[] {
  return processIds().filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark));
}

/** Kills the processes that a failed run left behind. */
export function endMarkedProcesses(mark: string): void {
  for (const pid of markedProcesses(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

/** Returns the files below a folder that this process holds open; none without `/proc`. */
export function openFilesBelow(folder: string): string[] {
  return descriptors().flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return [];
    }
  });
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function descriptors(): string[] {
  try {
    return readdirSync('/proc/self/fd');
  } catch {
    return [];
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
