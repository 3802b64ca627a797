import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { baseEnvironment } from '../environment.js';
import { findBinary } from '../find-binary.js';
import { loadOnce } from '../load-once.js';
import { fileLocksOf, isEnded } from '../process-marks.js';
import { reportUnmarked } from './supervisor-problem.js';

/** The bits of a limit that number the processes of one host. The others are the host's own. */
const NUMBER_BITS = 32n;
const MAX_NUMBER = 2 ** 32;

/** Hosts that a limit must leave room for, so that two don't meet. */
const MIN_HOSTS = 2n ** 16n;
const MAX_HOSTS = 2n ** 30n;

const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/run/current-system/sw/bin'];
const MAX_TRY_MS = 20_000;

/** A program, and what it is started with. */
export interface MarkedCommand {
  file: string;
  args: string[];
  argv0: string;
  /** The limit that it will have. */
  limit: string;
}

/**
 * Marks processes by a limit of a resource: that of file locks, which Linux has not enforced since
 * 2.4 and still keeps. A process inherits it whatever it does with its environment, its descriptors,
 * its session and its parent, everybody can read it, and nobody but the superuser can raise it.
 */
export class LimitMark {
  readonly #program: string;
  /** The least limit of this host, as a decimal number. Its processes share all but the low 32 bits. */
  readonly first: string;
  // What `prlimit` says begins with it; what the program says can't.
  readonly #name = `ethos-limits-${randomUUID()}`;
  #marked = 0;

  constructor(program: string, first: bigint) {
    this.#program = program;
    this.first = String(first);
  }

  /** The same command, marked. It becomes the program: the process id stays, and nothing is left between. */
  wrap(file: string, args: readonly string[], { name, path }: WrapOptions): MarkedCommand {
    this.#marked = (this.#marked + 1) % MAX_NUMBER;
    const limit = String(BigInt(this.first) + BigInt(this.#marked));
    // A program is called as it is looked up. Its own name stays where both lead to the same file.
    const isSame = path.split(':').every(isAbsolute) && findBinary(name, path) === file;
    return {
      file: this.#program,
      args: [`--locks=${limit}:${limit}`, '--', isSame ? name : file, ...args],
      argv0: this.#name,
      limit,
    };
  }

  /** Tells what `prlimit` says of a program that it can't become from what the program says. */
  observe(): PrefixObserver {
    return new PrefixObserver(`${this.#name}: `);
  }

  /** Whether a process of this host is marked so. */
  carries(pid: number): boolean {
    const limit = fileLocksOf(pid);
    return limit !== undefined && hostPart(limit) === hostPart(this.first) && !isEnded(pid);
  }
}

interface WrapOptions {
  /** What the program is called in its own eyes. */
  name: string;
  /** The `PATH` of its environment. */
  path: string;
}

class PrefixObserver {
  readonly #prefix: string;
  #isFirst = true;
  #said: string | undefined;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** What of a piece of the standard error is the program's. */
  ofCommand(chunk: Buffer): Buffer {
    if (this.#isFirst && chunk.subarray(0, this.#prefix.length).toString() === this.#prefix) {
      this.#said = '';
    }
    this.#isFirst = false;
    if (this.#said === undefined) return chunk;
    this.#said += chunk.toString();
    return Buffer.alloc(0);
  }

  /** Why the program was not started; `undefined` when it was. */
  failure(): string | undefined {
    return this.#said?.slice(this.#prefix.length).trim();
  }
}

let found: LimitMark | undefined;

/** Looks once for what marks the processes of this host, and tries it. */
export const openLimitMark = loadOnce(async () => {
  found = await findLimitMark(baseEnvironment(undefined).PATH ?? '');
});

/** What marks the processes of this host, when `openLimitMark` has found it. */
export function hostLimitMark(): LimitMark | undefined {
  return found;
}

/** `undefined` where this machine has nothing, which `problems()` tells. */
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

/** Below the limit of this process, which it may have from a host that it runs in and can't raise. */
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
