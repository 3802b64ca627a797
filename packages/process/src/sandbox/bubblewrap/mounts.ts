import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { PathSet } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** What stands at one path of a sandbox. */
export type Mount =
  /** A file or folder of the host, held open since it was judged. */
  | { kind: 'bind'; descriptor: number; writable: boolean }
  /** A folder of the system, which nobody but its owner could swap. */
  | { kind: 'system' }
  /** A file of the system, as it is when the sandbox begins. */
  | { kind: 'copy' }
  | { kind: 'link'; target: string }
  /** A folder of the sandbox's own, in which nothing but the mounts below it can be. */
  | { kind: 'folder' }
  /** An empty file system of its own that is gone at the end. */
  | { kind: 'scratch' };

// Each costs the sandbox a system call, a descriptor and a look at all that it has mounted.
const MAX_MOUNTS = 1000;

/** The kinds that stand for what the host has, with all below it. */
const HOSTS_OWN: ReadonlySet<Mount['kind']> = new Set(['bind', 'system']);

// As many as the kernel follows.
const MAX_LINKS = 40;

/** Opens the very file or link at a path, not to be read, and whatever it is. */
const O_PATH = 0o10000000;

/** Where the kernel shows itself. A sandbox has its own of these, or none. */
const KERNEL = ['/proc', '/sys', '/dev'];

/**
 * What a sandbox sees, path by path. What is denied is never there to be found: a folder that has
 * a denied path in it is shown as a folder of the sandbox's own, with the rest of its children in
 * it, so that a denied file which is made, replaced or renamed meanwhile can't come into view.
 */
export class Mounts {
  readonly #deny: PathSet;
  readonly #table: Map<string, Mount>;
  readonly #descriptors: number[] = [];

  constructor(deny: PathSet, system: ReadonlyMap<string, Mount>) {
    this.#deny = deny;
    this.#table = new Map(system);
    for (const [path, { kind }] of system) {
      if (kind !== 'system' && kind !== 'copy') continue;
      if (deny.covers(path) !== undefined) this.#table.delete(path);
      else if (this.#deniesBelow(path)) this.add(path, false);
    }
  }

  /** From the root downwards. */
  entries(): Array<[path: string, mount: Mount]> {
    return [...this.#table]
      .filter(([path]) => !KERNEL.some((root) => isAt(path, root)))
      .sort(([a], [b]) => depth(a) - depth(b));
  }

  /** Shows a real path. Nothing happens when something else, or nothing, is there now. */
  add(real: string, writable: boolean): void {
    if (this.#deny.coversNormal(real) !== undefined) return;
    const opened = this.#open(real);
    if (opened === undefined || readlinkSync(`/proc/self/fd/${opened.descriptor}`) !== real) return;
    this.#show(real, opened, writable);
  }

  /** Lets `path` lead to `target`, unless the host's own file or link is seen there. */
  link(path: string, target: string): void {
    if (path !== target && !this.shows(path)) this.#table.set(path, { kind: 'link', target });
  }

  /** Whether a path leads to something in here, and that is what the host has there. */
  shows(path: string, hops = 0): boolean {
    let shown = path === '/';
    for (const at of ancestors(path)) {
      const mount = this.#table.get(at);
      if (mount?.kind === 'link') {
        const target = resolve(dirname(at), mount.target, relative(at, path));
        return hops < MAX_LINKS && this.shows(target, hops + 1);
      }
      if (mount !== undefined) {
        shown = HOSTS_OWN.has(mount.kind) || at === path;
      }
    }
    return shown;
  }

  /** Opens a file of the system to be copied, if it is there. */
  read(path: string): number | undefined {
    return this.#hold(() => openSync(path, constants.O_RDONLY));
  }

  /** Closes what was held open. */
  release(): void {
    for (const descriptor of this.#descriptors.splice(0)) closeSync(descriptor);
  }

  #show(path: string, { descriptor, stats }: Opened, writable: boolean): void {
    if (stats.isDirectory() && this.#deniesBelow(path)) {
      this.#set(path, { kind: 'folder' });
      this.#showChildren(path, `/proc/self/fd/${descriptor}`, writable);
    } else if (stats.isDirectory() || stats.isFile()) {
      this.#set(path, { kind: 'bind', descriptor, writable });
    }
  }

  #showChildren(path: string, held: string, writable: boolean): void {
    for (const name of attempt(() => readdirSync(held)) ?? []) {
      const child = join(path, name);
      if (this.#deny.coversNormal(child) !== undefined) continue;
      const opened = this.#open(join(held, name));
      if (opened === undefined) continue;
      if (opened.stats.isSymbolicLink()) {
        const target = attempt(() => readlinkSync(join(held, name)));
        if (target !== undefined) this.#set(child, { kind: 'link', target });
      } else {
        this.#show(child, opened, writable);
      }
    }
  }

  #set(path: string, mount: Mount): void {
    if (mount.kind === 'bind') {
      for (const [at, { kind }] of this.#table) {
        // What may be written may be written in all its parts. And nothing is put into a folder
        // of the host, where it would stay.
        if ((mount.writable || kind !== 'bind') && isAt(at, path)) this.#table.delete(at);
      }
    }
    this.#table.set(path, mount);
    if (this.#table.size > MAX_MOUNTS) {
      throw new EthosError(
        'SPAWN_FAILED',
        'the reach is too wide for a sandbox; let the operator name narrower folders in fs_reach',
      );
    }
  }

  #open(path: string): Opened | undefined {
    const descriptor = this.#hold(() => openSync(path, O_PATH | constants.O_NOFOLLOW));
    return descriptor === undefined ? undefined : { descriptor, stats: fstatSync(descriptor) };
  }

  #hold(open: () => number): number | undefined {
    const descriptor = attempt(open);
    if (descriptor !== undefined) this.#descriptors.push(descriptor);
    return descriptor;
  }

  // The root is never shown as it is: the sandbox's own mounts must have a place in it.
  #deniesBelow(path: string): boolean {
    return path === '/' || this.#deny.roots.some((denied) => isAt(denied, path));
  }
}

interface Opened {
  descriptor: number;
  stats: Stats;
}

/** What is gone, or swapped, or not for this user to see, is not shown. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Whether a path is a root or below it; all paths here are absolute and normal. */
function isAt(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path.charAt(root.length) === '/');
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}

/** `/a`, `/a/b`, `/a/b/c`. */
function ancestors(path: string): string[] {
  const parts = path.split('/').slice(1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
