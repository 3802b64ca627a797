import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The processes with a mark in their environment; empty without `/proc`. */
export function markedProcesses(mark: string): number[] {
  return processIds().filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark));
}

/** Ends what a failed run left behind. */
export function endMarkedProcesses(mark: string): void {
  for (const pid of markedProcesses(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

/** The files below a folder that this process holds open; empty without `/proc`. */
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
