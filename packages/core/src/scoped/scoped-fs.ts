import { homedir } from 'node:os';
import {
  compileDenySet,
  compilePathSet,
  denyFloor,
  type ForwardableStorage,
  normalizePath,
  type PathSet,
  pathProblem,
  Turns,
} from '@ethosagent/policy';
import {
  BoundaryError,
  EthosError,
  type ReachKind,
  type ScopedFs,
  type Storage,
  type StorageChange,
  type StorageEntry,
} from '@ethosagent/types';
import { type AccessAsked, type AccessScope, type Allow, recordAccess, textOf } from '../access.js';
import { holdStorage } from './hold-storage.js';

/** A storage that may have only the four documented methods. */
export type ScopedFsStorage = ForwardableStorage;

export interface ScopedFsOptions {
  /** Paths that nothing reaches. The built-in deny floor if absent. */
  deny?: Iterable<string>;
  scope?: AccessScope | undefined;
  /** What `reachOf` returned for the same storage and sets, so that calls share it. */
  reach?: FsReach | undefined;
}

/** A compiled reach: the check of paths as text, and the storage that checks where they lead. */
export interface FsReach {
  /** The root that covers a path. */
  rootOf(kind: ReachKind, path: string): string | undefined;
  denies(path: string): boolean;
  /** Called once, when the first access passes the check of its path. */
  storage(): Storage;
}

/** The deny floor for the user who runs this process. */
export function defaultDenyPaths(): string[] {
  return denyFloor({ home: homedir() });
}

/** Compiles a reach over a storage. */
export function reachOf(
  storage: ScopedFsStorage,
  {
    read,
    write,
    deny = defaultDenyPaths(),
    leads,
  }: {
    read: Iterable<string>;
    write: Iterable<string>;
    deny?: Iterable<string> | undefined;
    leads?: Readonly<Record<string, string>> | undefined;
  },
): FsReach {
  const sets: Record<ReachKind, PathSet> = {
    read: compilePathSet(read),
    write: compilePathSet(write),
  };
  const floor = compileDenySet(deny);
  let held: Storage | undefined;
  return {
    rootOf: (kind, path) => sets[kind].covers(path),
    denies: (path) => floor.covers(path) !== undefined,
    storage: () =>
      (held ??= holdStorage(storage, {
        read: sets.read.roots,
        write: sets.write.roots,
        deny: floor.roots,
        ...(leads !== undefined && { leads }),
      })),
  };
}

/**
 * Files that are limited to a read set and a write set. The path is first checked as text. The
 * storage's contained view checks links and races. If there is no contained view, the real path of
 * the target, or of its nearest existing parent, is checked before the access.
 */
export class ScopedFsImpl implements ScopedFs {
  readonly #reach: FsReach;
  readonly #scope: AccessScope | undefined;
  /** Shared by all accessors. Each may have a contained view of its own. */
  readonly #shared: object;

  /**
   * The files of one call.
   *
   * @param storage behind the reach
   * @param readPaths absolute files and folders that may be read
   * @param writePaths absolute files and folders that may be written
   * @param options denied paths, and the scope of the call
   * @throws `CONFIG_INVALID` for a denied path that could deny nothing
   */
  // biome-ignore lint/complexity/useMaxParams: a documented signature
  constructor(
    storage: ScopedFsStorage,
    readPaths: ReadonlySet<string>,
    writePaths: ReadonlySet<string>,
    options: ScopedFsOptions = {},
  ) {
    const paths = { read: readPaths, write: writePaths, deny: options.deny };
    this.#reach = options.reach ?? reachOf(storage, paths);
    this.#scope = options.scope;
    this.#shared = storage;
  }

  read(path: string): Promise<string> {
    return this.#read('read', path, async (storage, at) => {
      const text = await storage.read(at);
      if (text === null) throw missing(path);
      return text;
    });
  }

  write(path: string, content: string | Uint8Array): Promise<void> {
    return this.#change('write', path, (storage, at, change) => storage.write(at, content, change));
  }

  append(path: string, content: string | Uint8Array): Promise<void> {
    return this.#change('append', path, (storage, at, change) =>
      storage.append === undefined
        ? this.#rewrite(storage, { at, content, change })
        : storage.append(at, content, change),
    );
  }

  exists(path: string): Promise<boolean> {
    return this.#read('exists', path, (storage, at) => storage.exists(at));
  }

  list(path: string): Promise<string[]> {
    return this.#read('list', path, (storage, at) => storage.list(at));
  }

  readBytes(path: string): Promise<Uint8Array> {
    return this.#read('readBytes', path, async (storage, at) => {
      const bytes = await storage.readBytes(at);
      if (bytes === null) throw missing(path);
      return bytes;
    });
  }

  mtime(path: string): Promise<number | null> {
    return this.#read('mtime', path, (storage, at) => storage.mtime(at));
  }

  mkdir(path: string): Promise<void> {
    return this.#change('mkdir', path, (storage, at, change) => storage.mkdir(at, change));
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.#read('listEntries', path, (storage, at) => storage.listEntries(at));
  }

  remove(path: string, opts?: { recursive?: boolean }): Promise<void> {
    return this.#change('remove', path, (storage, at, change) =>
      storage.remove(at, { ...opts, ...change }),
    );
  }

  /** Both paths must be in the write set, since the name leaves one and appears at the other. */
  rename(from: string, to: string): Promise<void> {
    const access: AccessAsked = {
      capability: 'fs_reach.write',
      operation: 'rename',
      target: `${textOf(from)} -> ${textOf(to)}`,
    };
    return recordAccess(this.#scope, access, async (allow) => {
      const [storage, source] = this.#check('write', from, access);
      const [, target] = this.#check('write', to, access);
      await this.#scope?.taint?.sources?.beforeWrite([source, target], source);
      const change = announced(storage, () => this.#allowChange(allow));
      return storage.rename(source, target, change);
    });
  }

  /** What the check of a path as text says. An access is checked anew, whatever was said here. */
  covers(kind: ReachKind, path: string): boolean {
    this.#scope?.assertLive();
    if (typeof path !== 'string' || pathProblem(path) !== undefined) return false;
    const at = normalizePath(path);
    return this.#reach.rootOf(kind, at) !== undefined && !this.#reach.denies(at);
  }

  #change<T>(
    operation: string,
    path: string,
    run: (storage: Storage, at: string, change: StorageChange) => Promise<T>,
  ): Promise<T> {
    const target = textOf(path);
    const access: AccessAsked = { capability: 'fs_reach.write', operation, target };
    return recordAccess(this.#scope, access, async (allow) => {
      const [storage, at] = this.#check('write', path, access);
      await this.#scope?.taint?.sources?.beforeWrite([at]);
      return run(
        storage,
        at,
        announced(storage, () => this.#allowChange(allow)),
      );
    });
  }

  #rewrite(
    storage: Storage,
    { at, content, change }: { at: string; content: string | Uint8Array; change: StorageChange },
  ): Promise<void> {
    const added = typeof content === 'string' ? Buffer.from(content) : content;
    return inTurn(this.#shared, at, async () => {
      // The call may have ended while this waited.
      this.#scope?.assertLive();
      const before = await storage.readBytes(at);
      this.#scope?.assertLive();
      await storage.write(at, Buffer.concat([before ?? new Uint8Array(), added]), change);
    });
  }

  #allowChange(allow: Allow): void {
    allow(() => this.#scope?.spend('files_written', 1));
  }

  #read<T>(
    operation: string,
    path: string,
    run: (storage: Storage, at: string) => Promise<T>,
  ): Promise<T> {
    const access: AccessAsked = { capability: 'fs_reach.read', operation, target: textOf(path) };
    return recordAccess(this.#scope, access, async (allow) => {
      const [storage, at] = this.#check('read', path, access);
      // A storage that can't be contained decides nothing more, so the access is allowed here.
      if (storage.contained === undefined) allow();
      const sources = this.#scope?.taint?.sources;
      if (sources === undefined) return run(storage, at);
      // Looked up before and after: if a link changes in between, both places are noted.
      sources.noteFile(at);
      try {
        return await run(storage, at);
      } finally {
        sources.noteFile(at);
      }
    });
  }

  /**
   * Checks a path as text, without an access.
   *
   * @param kind of the access
   * @param path absolute, or relative to the working directory of the process
   * @throws `PATH_NOT_REACHABLE` for a path outside the reach
   * @throws `PATH_INVALID` for what can't name a file
   */
  assertReach(kind: ReachKind, path: string): void {
    const capability = kind === 'read' ? 'fs_reach.read' : 'fs_reach.write';
    this.#check(kind, path, { capability, operation: 'check', target: textOf(path) });
  }

  #check(kind: ReachKind, path: string, access: AccessAsked): [storage: Storage, at: string] {
    const problem = typeof path === 'string' ? pathProblem(path) : 'the path is not a string';
    if (problem !== undefined) throw new EthosError('PATH_INVALID', problem);
    const at = normalizePath(path);
    const root = this.#reach.rootOf(kind, at);
    access.basis = root === undefined ? { asked: [at] } : { covers: root };
    if (root === undefined) throw new BoundaryError(kind, path);
    if (this.#reach.denies(at)) throw new BoundaryError(kind, path, 'deny floor');
    access.rule = `within ${root}`;
    return [this.#reach.storage(), at];
  }
}

const turnsByStorage = new WeakMap<object, Turns>();

/**
 * Runs the changes of a file one after another: no other change may come between the read and the
 * write.
 */
function inTurn(storage: object, path: string, task: () => Promise<void>): Promise<void> {
  const turns = turnsByStorage.get(storage) ?? new Turns();
  turnsByStorage.set(storage, turns);
  return turns.run(path, task);
}

/**
 * A contained view calls `beforeChange` once it has decided. A storage that can't be contained may
 * never call it, so the access is allowed here.
 */
function announced(storage: Storage, allow: () => void): StorageChange {
  if (storage.contained !== undefined) return { beforeChange: allow };
  allow();
  return {};
}

function missing(path: string): EthosError {
  return new EthosError('FILE_NOT_FOUND', `there is no file at ${path}`);
}
