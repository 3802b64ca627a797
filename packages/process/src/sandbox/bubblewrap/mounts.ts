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

/** What a sandbox has at one path. */
export type Mount =
  /** A file or folder of the host. Its descriptor has been open since it was checked. */
  | { kind: 'bind'; descriptor: number; writable: boolean }
  /** A folder of the system, which only its owner could replace. */
  | { kind: 'system' }
  /** A file of the system, copied when the sandbox begins. */
  | { kind: 'copy' }
  | { kind: 'link'; target: string }
  /** A folder of the sandbox itself, which holds only the mounts below it. */
  | { kind: 'folder' }
  /** An empty file system that is removed at the end. */
  | { kind: 'scratch' };

// Each mount costs the sandbox a system call, a descriptor and a scan of all its mounts.
const MAX_MOUNTS = 1000;

/** The kinds that show the host's own file or folder, with everything below it. */
const HOSTS_OWN: ReadonlySet<Mount['kind']> = new Set(['bind', 'system']);

// The same number as in the kernel.
const MAX_LINKS = 40;

/** Opens a file or a link itself, whatever it is, without the right to read it. */
const O_PATH = 0o10000000;

/** The file systems of the kernel. A sandbox has its own, or none. */
const KERNEL = ['/proc', '/sys', '/dev'];

/**
 * What a sandbox sees, path by path.
 *
 * The invariant: a denied path never becomes visible. A folder that contains a denied path is never
 * mounted as a whole. Instead the sandbox gets a folder of its own, with a mount for each of the
 * other children. So a denied file that is created, replaced or renamed later can't appear in it.
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

  /** Sorted from the root downwards. */
  entries(): Array<[path: string, mount: Mount]> {
    return [...this.#table]
      .filter(([path]) => !KERNEL.some((root) => isAt(path, root)))
      .sort(([a], [b]) => depth(a) - depth(b));
  }

  /** Shows a real path. Does nothing if the path has changed or is gone. */
  add(real: string, writable: boolean): void {
    if (this.#deny.coversNormal(real) !== undefined) return;
    const opened = this.#open(real);
    if (opened === undefined || readlinkSync(`/proc/self/fd/${opened.descriptor}`) !== real) return;
    this.#show(real, opened, writable);
  }

  /** Makes `path` a link to `target`, unless the host's own file or link is visible there. */
  link(path: string, target: string): void {
    if (path !== target && !this.shows(path)) this.#table.set(path, { kind: 'link', target });
  }

  /** Whether a path leads to a place in the sandbox that shows the same file as on the host. */
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

  /** Opens a file of the system to copy it, if it exists. */
  read(path: string): number | undefined {
    return this.#hold(() => openSync(path, constants.O_RDONLY));
  }

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
        // A writable folder is writable as a whole, so mounts within it are dropped. Nothing may be
        // created in a folder of the host either, since it would stay there.
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

  // The root is never mounted as a whole: the sandbox's own mounts need a place in it.
  #deniesBelow(path: string): boolean {
    return path === '/' || this.#deny.roots.some((denied) => isAt(denied, path));
  }
}

interface Opened {
  descriptor: number;
  stats: Stats;
}

/** A path that is gone, was replaced or may not be read by this user is left out. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Whether a path is the root or below it. All paths here are absolute and normalised. */
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
