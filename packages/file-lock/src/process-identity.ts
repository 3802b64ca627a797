import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

let startToken: string | undefined;
let machineToken: string | undefined;

/**
 * Returns when this process started, in ticks of the kernel.
 *
 * @returns eight hexadecimal digits; zeros on a system that does not report this
 */
export function ownStart(): string {
  startToken ??= tokenOf(readStart(process.pid));
  return startToken;
}

/**
 * Whether a process of this machine is still running. A later process with the same id does not
 * count.
 *
 * @param pid the id of the process
 * @param start when the process started, as `ownStart` or `readStart` returned it
 */
export function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  const fields = statOf(pid);
  // A process that has ended keeps its id and its start until its parent has read its exit code.
  if (fields !== undefined && 'ZXx'.includes(fields[0] ?? '')) return false;
  const ticks = fields?.[19];
  return ticks === undefined || ticks === start || tokenOf(ticks) === start;
}

/** Returns the fields of a process from its state on; see proc_pid_stat(5). Linux only. */
function statOf(pid: number): string[] | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The second field, the name, may itself contain spaces and parentheses.
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Returns when a process started, in ticks of the kernel; `undefined` if that can't be read. */
export function readStart(pid: number): string | undefined {
  return statOf(pid)?.[19];
}

function tokenOf(ticks: string | undefined): string {
  return (Number(ticks ?? 0) >>> 0).toString(16).padStart(8, '0');
}

/**
 * Returns a name for the place in which process ids mean the same as here: this boot of this
 * machine, in this container.
 *
 * @returns eight hexadecimal digits
 */
export function machine(): string {
  if (machineToken === undefined) {
    const facts = [
      hostname(),
      attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
      attempt(() => readlinkSync('/proc/self/ns/pid')),
    ];
    machineToken = createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 8);
  }
  return machineToken;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
