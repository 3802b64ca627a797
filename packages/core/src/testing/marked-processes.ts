import { readdirSync, readFileSync } from 'node:fs';

/** The live processes that carry a mark at the beginning of an argument, and that argument. */
export function markedProcesses(mark: string): Map<number, string> {
  const found = readdirSync('/proc').flatMap((name): [number, string][] => {
    if (!/^\d+$/.test(name)) return [];
    // A shell shows its program among its arguments, which holds no mark.
    const arg = commandOf(Number(name)).find((each) => each.startsWith(mark));
    return arg === undefined ? [] : [[Number(name), arg]];
  });
  return new Map(found);
}

/** The live supervisor of a host. */
export function supervisorOf(host: number | undefined): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => commandOf(pid)[0] === 'ethos-supervisor' && parentOf(pid) === host);
}

/** Whether a process has begun to catch a signal, by the signal's number. */
export function catches(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([\da-f]+)/m.exec(read(pid, 'status'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

function commandOf(pid: number): string[] {
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
