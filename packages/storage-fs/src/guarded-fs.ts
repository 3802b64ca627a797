import type { Stats } from 'node:fs';
import type { ContainedReach, ReachKind, Storage, StorageEntry } from '@ethosagent/types';
import type { DenyIndex } from './deny-index.js';
import { storageError } from './errno.js';
import { listFolder } from './list-folder.js';
import { locate, openOrMakeFolder, type Request, type World } from './locate.js';
import { removePlace, renamePlace } from './move.js';
import { ReachGuard } from './reach-guard.js';
import { readBytes, readText } from './read-file.js';
import { writeFile } from './write-file.js';

/** What all views of one storage share. */
export interface GuardedFsOptions {
  readonly maxReadBytes: number;
  /** Compiles what a view denies, beside what is always denied. */
  readonly denyIndexFor: (deny: readonly string[]) => DenyIndex;
}

/** Storage on disk, every step of which is judged by a guard. */
export class GuardedFs implements Storage {
  readonly #world: World;
  readonly #options: GuardedFsOptions;

  constructor(world: World, options: GuardedFsOptions) {
    this.#world = world;
    this.#options = options;
  }

  read(path: string): Promise<string | null> {
    return this.#run('read', path, (request) =>
      readText(this.#world, request, this.#options.maxReadBytes),
    );
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return this.#run('read', path, (request) =>
      readBytes(this.#world, request, this.#options.maxReadBytes),
    );
  }

  write(path: string, content: string | Uint8Array, opts?: { mode?: number }): Promise<void> {
    return this.#run('write', path, (request) =>
      writeFile(this.#world, request, content, opts?.mode),
    );
  }

  exists(path: string): Promise<boolean> {
    return this.#run('read', path, (request) => this.#look(request) !== undefined);
  }

  async list(path: string): Promise<string[]> {
    return (await this.listEntries(path)).map((entry) => entry.name);
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.#run('read', path, (request) => listFolder(this.#world, request));
  }

  mtime(path: string): Promise<number | null> {
    return this.#run('read', path, (request) => this.#look(request)?.mtimeMs ?? null);
  }

  mkdir(path: string, opts?: { mode?: number }): Promise<void> {
    return this.#run('write', path, async (request) => {
      const folder = await openOrMakeFolder(this.#world, request.asked, request.path, opts?.mode);
      try {
        this.#world.guard.judge('write', folder.realPath(), path);
      } finally {
        folder.close();
      }
    });
  }

  remove(path: string, opts?: { recursive?: boolean }): Promise<void> {
    return this.#run('write', path, (request) =>
      removePlace(this.#world, request, opts?.recursive === true),
    );
  }

  rename(from: string, to: string): Promise<void> {
    return this.#run('write', from, (source) =>
      this.#run('write', to, (target) => renamePlace(this.#world, source, target)),
    );
  }

  /** A view of this one that is held to `reach` as well. */
  contained(reach: ContainedReach): Storage {
    const deny = this.#options.denyIndexFor(reach.deny ?? []);
    const guard = new ReachGuard(reach, deny, this.#world.guard);
    return new GuardedFs({ access: this.#world.access, guard }, this.#options);
  }

  #look(request: Request): Stats | undefined {
    const place = locate(this.#world, request, { follow: true });
    place?.folder.close();
    return place?.stat;
  }

  async #run<T>(
    kind: ReachKind,
    asked: string,
    operation: (request: Request) => T | Promise<T>,
  ): Promise<T> {
    try {
      const path = this.#world.guard.enter(kind, asked);
      return await operation({ kind, asked, path });
    } catch (error) {
      throw storageError(error, kind, asked);
    }
  }
}
