import type { Stats } from 'node:fs';
import { ReachGuard } from '@ethosagent/policy';
import type {
  ContainedReach,
  ReachKind,
  Storage,
  StorageChange,
  StorageEntry,
} from '@ethosagent/types';
import { appendFile } from './append-file.js';
import { announced } from './change.js';
import type { DenyIndex } from './deny-index.js';
import { storageError } from './errno.js';
import { realLocation } from './follow-links.js';
import { listFolder } from './list-folder.js';
import { locate, openOrMakeFolder, type Request, type World } from './locate.js';
import { removePlace, renamePlace } from './move.js';
import { readBytes, readText } from './read-file.js';
import { writeFile } from './write-file.js';

/** The options that all views of one storage share. */
export interface GuardedFsOptions {
  readonly maxReadBytes: number;
  /** Compiles the paths that a view denies, in addition to those that are always denied. */
  readonly denyIndexFor: (deny: readonly string[]) => DenyIndex;
}

/** A storage on disk. A guard checks every step. */
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

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return announced(opts, (announce) =>
      this.#run('write', path, (request) =>
        writeFile(this.#world, request, { content, mode: opts?.mode, announce }),
      ),
    );
  }

  append(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return announced(opts, (announce) =>
      this.#run('write', path, (request) =>
        appendFile(this.#world, request, {
          content,
          mode: opts?.mode,
          announce,
          maxReadBytes: this.#options.maxReadBytes,
        }),
      ),
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

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return announced(opts, (announce) =>
      this.#run('write', path, async (request) => {
        const making = { request, mode: opts?.mode, beforeMaking: announce };
        const folder = await openOrMakeFolder(this.#world, request.path, making);
        try {
          this.#world.guard.judge({ kind: 'write', asked: path }, folder.realPath());
          announce();
        } finally {
          folder.close();
        }
      }),
    );
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    const recursive = opts?.recursive === true;
    return announced(opts, (announce) =>
      this.#run('write', path, (request) =>
        removePlace(this.#world, request, { recursive, announce }),
      ),
    );
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    return announced(opts, (announce) =>
      this.#run('write', from, (source) =>
        this.#run('write', to, (target) =>
          renamePlace(this.#world, { from: source, to: target, announce }),
        ),
      ),
    );
  }

  /** Returns a view of this storage that is also limited to `reach`. */
  contained(reach: ContainedReach): Storage {
    const deny = this.#options.denyIndexFor(reach.deny ?? []);
    const guard = new ReachGuard({
      reach,
      deny,
      outer: this.#world.guard,
      realPathOf: realLocation,
    });
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
