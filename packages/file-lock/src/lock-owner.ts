import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning, readStart } from './process-identity.js';

/** The owner of a lock. Fields that a system does not offer are empty. */
export interface LockOwner {
  readonly boot: string;
  /** The process namespace: a process id has a meaning only within its namespace. */
  readonly namespace: string;
  readonly pid: number;
  /** When the process began: another process may get its id later. */
  readonly started: string;
  /**
   * The machine. If the lock is on a shared disk and another machine made it, nothing is known
   * about its owner.
   */
  readonly machine: string;
}

let own: LockOwner | undefined;

/** Returns this process as the owner of a lock. */
export function ownLock(): LockOwner {
  own ??= {
    boot: readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: readOrEmpty(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')),
    pid: process.pid,
    started: readStart(process.pid) ?? '',
    machine: createHash('sha256').update(hostname()).digest('hex').slice(0, 8),
  };
  return own;
}

/** Returns a name that encodes an owner and is used only once. */
export function nameOfOwner({ boot, namespace, pid, started, machine }: LockOwner): string {
  return [boot, namespace, pid, started, randomBytes(6).toString('hex'), machine].join('.');
}

/** Returns the owner that a name encodes; `undefined` for any other name. */
export function parseOwner(name: string): LockOwner | undefined {
  const [boot, namespace, pid, started, random, machine = ownLock().machine] = name.split('.');
  if (boot === undefined || namespace === undefined || started === undefined) return undefined;
  if (random === undefined || !/^\d+$/.test(pid ?? '')) return undefined;
  return { boot, namespace, pid: Number(pid), started, machine };
}

/** Whether an owner is alive, or may be. Only `false` is certain. */
export function isOwnerAlive(owner: LockOwner): boolean {
  const here = ownLock();
  const isThisBoot =
    owner.boot === here.boot && (here.boot !== '' || owner.machine === here.machine);
  if (!isThisBoot) return owner.machine !== here.machine;
  if (owner.namespace !== here.namespace) return true;
  return isRunning(owner.pid, owner.started);
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
