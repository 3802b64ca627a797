import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { baseEnvironment } from '../environment.js';
import { findBinary } from '../find-binary.js';
import { loadOnce } from '../load-once.js';
import { fileLocksOf, isEnded } from '../process-marks.js';
import { reportUnmarked } from './supervisor-problem.js';

/** The low bits of a limit count the processes of one host. The other bits identify the host. */
const NUMBER_BITS = 32n;
const MAX_NUMBER = 2 ** 32;

/**
 * How many hosts the limits must have room for, so that two hosts hardly ever get the same bits.
 */
const MIN_HOSTS = 2n ** 16n;
const MAX_HOSTS = 2n ** 30n;

const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/run/current-system/sw/bin'];
const MAX_TRY_MS = 20_000;

/** A program, with its arguments and its name. */
export interface MarkedCommand {
  file: string;
  args: string[];
  argv0: string;
  /** The limit that the process will have. */
  limit: string;
}

/**
 * Marks processes by a resource limit: the limit of file locks, which Linux has not enforced since
 * 2.4 but still keeps. A process inherits it, whatever it does with its environment, its
 * descriptors, its session and its parent. Everybody can read it. Only the superuser can raise it.
 */
export class LimitMark {
  readonly #program: string;
  /**
   * The lowest limit of this host, as a decimal number. The limits of its processes differ only in
   * the low 32 bits.
   */
  readonly first: string;
  // The messages of `prlimit` begin with this name, which the program can't know before.
  readonly #name = `ethos-limits-${randomUUID()}`;
  #marked = 0;

  constructor(program: string, first: bigint) {
    this.#program = program;
    this.first = String(first);
  }

  /**
   * The same command, marked. `prlimit` becomes the program, so the process id stays the same and
   * there is no process between.
   */
  wrap(file: string, args: readonly string[], { name, path }: WrapOptions): MarkedCommand {
    this.#marked = (this.#marked + 1) % MAX_NUMBER;
    const limit = String(BigInt(this.first) + BigInt(this.#marked));
    // A program is called by its own name if the `PATH` leads to the same file, otherwise by its
    // path.
    const isSame = path.split(':').every(isAbsolute) && findBinary(name, path) === file;
    return {
      file: this.#program,
      args: [`--locks=${limit}:${limit}`, '--', isSame ? name : file, ...args],
      argv0: this.#name,
      limit,
    };
  }

  /**
   * Separates the error of `prlimit`, when it can't start the program, from the output of the
   * program.
   */
  observe(): PrefixObserver {
    return new PrefixObserver(`${this.#name}: `);
  }

  carries(pid: number): boolean {
    const limit = fileLocksOf(pid);
    return limit !== undefined && hostPart(limit) === hostPart(this.first) && !isEnded(pid);
  }
}

interface WrapOptions {
  /** The name under which the program sees itself. */
  name: string;
  /** The `PATH` in its environment. */
  path: string;
}

class PrefixObserver {
  readonly #prefix: string;
  #isFirst = true;
  #said: string | undefined;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The part of a chunk of standard error that the program wrote. */
  ofCommand(chunk: Buffer): Buffer {
    if (this.#isFirst && chunk.subarray(0, this.#prefix.length).toString() === this.#prefix) {
      this.#said = '';
    }
    this.#isFirst = false;
    if (this.#said === undefined) return chunk;
    this.#said += chunk.toString();
    return Buffer.alloc(0);
  }

  /** Why the program was not started; `undefined` if it was. */
  failure(): string | undefined {
    return this.#said?.slice(this.#prefix.length).trim();
  }
}

let found: LimitMark | undefined;

/** Looks once for a way to mark the processes of this host, and tries it. */
export const openLimitMark = loadOnce(async () => {
  found = await findLimitMark(baseEnvironment(undefined).PATH ?? '');
});

/** The mark of this host's processes, once `openLimitMark` has found one. */
export function hostLimitMark(): LimitMark | undefined {
  return found;
}

/** `undefined` if this machine has no such mark. `problems()` then reports it. */
async function findLimitMark(path: string): Promise<LimitMark | undefined> {
  if (process.platform !== 'linux') return undefined;
  const folders = [...SYSTEM_FOLDERS, path].join(':');
  const program = findBinary('prlimit', folders);
  if (program === undefined) {
    reportUnmarked('prlimit is missing: install util-linux');
    return undefined;
  }
  const first = firstLimit();
  if (first === undefined) {
    reportUnmarked('its own limit of file locks (ulimit -x) is too low: lift it');
    return undefined;
  }
  const mark = new LimitMark(program, first);
  try {
    await assertWorks(mark, folders);
    return mark;
  } catch (error) {
    reportUnmarked(`prlimit does not work here: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/**
 * Lower than the limit of this process. Another host may have set that limit, and it can't be
 * raised.
 */
function firstLimit(): bigint | undefined {
  const own = fileLocksOf('self');
  const most = own === undefined ? MAX_HOSTS * 2n : hostPart(own);
  if (most < MIN_HOSTS) return undefined;
  const least = most / 2n;
  const part = least + (randomBytes(8).readBigUInt64BE() % (most - least));
  return part << NUMBER_BITS;
}

function hostPart(limit: string): bigint {
  return BigInt(limit) >> NUMBER_BITS;
}

async function assertWorks(mark: LimitMark, path: string): Promise<void> {
  const cat = findBinary('cat', path) ?? 'cat';
  const { file, args, limit } = mark.wrap(cat, ['/proc/self/limits'], { name: cat, path });
  const options = { cwd: '/', env: {}, timeout: MAX_TRY_MS };
  const { stdout } = await promisify(execFile)(file, args, options);
  if (!stdout.includes(limit)) throw new Error('the limit does not show in /proc');
}
