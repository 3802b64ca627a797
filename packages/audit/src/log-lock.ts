import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EthosError } from '@ethosagent/types';

const MAX_ATTEMPTS = 20;
const HELD = 'held';

/** Whose lock it is. Fields that a system does not offer are empty. */
interface Owner {
  boot: string;
  /** The process namespace, in which alone a process id means something. */
  namespace: string;
  pid: number;
  /** When the process began: another one may get its id later. */
  started: string;
}

/**
 * Takes a log for this process. Everyone who wants it makes a file of its own that is named after
 * its process and then looks for others: of two, the later one sees the earlier. So nobody ever
 * takes over a file of another, and those of the dead are just removed.
 * @returns what gives it back
 * @throws `STORE_UNAVAILABLE` while another process, or this one, has it
 */
export function lockLog(log: string): () => void {
  const folder = dirname(log);
  const prefix = `${basename(log)}.lock.`;
  for (let attempt = 1; ; attempt += 1) {
    const mine = prefix + nameOf(ownProcess());
    const release = () => removeIfThere(join(folder, mine));
    closeSync(openSync(join(folder, mine), 'wx', 0o600));
    try {
      const rivals = rivalsOf(folder, prefix, mine);
      if (rivals.length === 0) {
        writeFileSync(join(folder, mine), HELD);
        return release;
      }
      const holder = rivals.find(({ file }) => isHeld(file));
      if (holder !== undefined || attempt === MAX_ATTEMPTS) throw taken(log, holder ?? rivals[0]);
    } catch (error) {
      release();
      throw error;
    }
    release();
    // Both of two that came at once step back; chance parts them.
    pause(Math.random() * 2 * attempt);
  }
}

/** Whether a sink that is alive, here or in another process, has the log. Changes nothing. */
export function isLogHeld(log: string): boolean {
  return locksOf(dirname(log), `${basename(log)}.lock.`).some(
    ({ file, owner }) => isAlive(owner) && isHeld(file),
  );
}

interface Rival {
  file: string;
  owner: Owner;
}

function rivalsOf(folder: string, prefix: string, mine: string): Rival[] {
  return locksOf(folder, prefix).filter(({ file, owner }) => {
    if (file === join(folder, mine)) return false;
    const isRival = isAlive(owner);
    if (!isRival) removeIfThere(file);
    return isRival;
  });
}

function locksOf(folder: string, prefix: string): Rival[] {
  return readdirSync(folder).flatMap((name) => {
    const owner = name.startsWith(prefix) ? parseName(name.slice(prefix.length)) : undefined;
    return owner === undefined ? [] : [{ file: join(folder, name), owner }];
  });
}

function taken(log: string, rival: Rival | undefined): EthosError {
  return new EthosError(
    'STORE_UNAVAILABLE',
    `process ${rival?.owner.pid} writes ${log}; use another file, or remove ${rival?.file} if that process is gone`,
  );
}

function nameOf({ boot, namespace, pid, started }: Owner): string {
  return [boot, namespace, pid, started, randomBytes(6).toString('hex')].join('.');
}

function parseName(name: string): Owner | undefined {
  const [boot, namespace, pid, started, random] = name.split('.');
  if (boot === undefined || namespace === undefined || started === undefined) return undefined;
  if (random === undefined || !/^\d+$/.test(pid ?? '')) return undefined;
  return { boot, namespace, pid: Number(pid), started };
}

let own: Owner | undefined;

function ownProcess(): Owner {
  own ??= {
    boot: readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: readOrEmpty(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')),
    pid: process.pid,
    started: readOrEmpty(() => processState(process.pid).started),
  };
  return own;
}

function isAlive(owner: Owner): boolean {
  const here = ownProcess();
  if (owner.boot !== here.boot) return false;
  // Of a process in another container nothing can be told.
  if (owner.namespace !== here.namespace) return true;
  if (!isThere(owner.pid)) return false;
  if (here.started === '') return true;
  try {
    const { state, started } = processState(owner.pid);
    return started === owner.started && !'ZXx'.includes(state);
  } catch {
    // It ended between the two questions, or this user may not see it.
    return isThere(owner.pid);
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** The name of a program may hold spaces and brackets: the fields are counted from its end. */
function processState(pid: number): { state: string; started: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  if (state === undefined || started === undefined) throw new Error('no such process');
  return { state, started };
}

function isHeld(file: string): boolean {
  return readOrEmpty(() => readFileSync(file, 'utf8')) === HELD;
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
