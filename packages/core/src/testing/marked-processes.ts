import { readdirSync, readFileSync } from 'node:fs';

/** The live processes with an argument that begins with a mark, each with that argument. */
export function markedProcesses(mark: string): Map<number, string> {
  const found = readdirSync('/proc').flatMap((name): [number, string][] => {
    if (!/^\d+$/.test(name)) return [];
    // The arguments of a shell include its program, which contains no mark.
    const arg = commandOf(Number(name)).find((each) => each.startsWith(mark));
    return arg === undefined ? [] : [[Number(name), arg]];
  });
  return new Map(found);
}

/** Kills what a failed test left behind. */
export function endMarked(mark: string): void {
  for (const pid of markedProcesses(mark).keys()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

export function supervisorOf(host: number | undefined): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => commandOf(pid)[0] === 'ethos-supervisor' && parentOf(pid) === host);
}

/** Whether a process catches a signal, by the signal's number. */
export function catches(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([\da-f]+)/m.exec(read(pid, 'status'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

/** The program of a process and its arguments; a single empty one after its end. */
export function commandOf(pid: number): string[] {
  return read(pid, 'cmdline').split('\0');
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(read(pid, 'status'))?.[1] ?? -1);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
