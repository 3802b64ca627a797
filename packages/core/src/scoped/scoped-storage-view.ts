import type { ContainedReach, Storage, StorageChange, StorageEntry } from '@ethosagent/types';
import { type AccessScope, recordAccess, textOf } from '../access.js';

/** A storage for one call: every access is recorded, and none comes after the call. */
export class ScopedStorageView implements Storage {
  readonly #storage: Storage;
  readonly #scope: AccessScope;
  /** Present where the storage can be held to less. */
  declare readonly contained?: (reach: ContainedReach) => Storage;
  /** Present where the storage can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  constructor(storage: Storage, scope: AccessScope) {
    this.#storage = storage;
    this.#scope = scope;
    if (storage.contained !== undefined) {
      this.contained = (reach) =>
        new ScopedStorageView(storage.contained?.(reach) ?? storage, scope);
    }
    if (storage.append !== undefined) {
      this.append = (path, content, opts) =>
        this.#change('append', path, opts, async (all) => storage.append?.(path, content, all));
    }
  }

  read(path: string): Promise<string | null> {
    return this.#read('read', path, () => this.#storage.read(path));
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return this.#read('readBytes', path, () => this.#storage.readBytes(path));
  }

  exists(path: string): Promise<boolean> {
    return this.#read('exists', path, () => this.#storage.exists(path));
  }

  list(path: string): Promise<string[]> {
    return this.#read('list', path, () => this.#storage.list(path));
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.#read('listEntries', path, () => this.#storage.listEntries(path));
  }

  mtime(path: string): Promise<number | null> {
    return this.#read('mtime', path, () => this.#storage.mtime(path));
  }

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return this.#change('write', path, opts, (all) => this.#storage.write(path, content, all));
  }

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return this.#change('mkdir', path, opts, (all) => this.#storage.mkdir(path, all));
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return this.#change('remove', path, opts, (all) => this.#storage.remove(path, all));
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    const target = `${textOf(from)} -> ${textOf(to)}`;
    return this.#change('rename', target, opts, (all) => this.#storage.rename(from, to, all));
  }

  #read<T>(operation: string, path: string, run: () => Promise<T>): Promise<T> {
    const access = { capability: 'fs_reach.read', operation, target: textOf(path) } as const;
    return recordAccess(this.#scope, access, run);
  }

  #change<Options extends StorageChange>(
    operation: string,
    target: string,
    opts: Options | undefined,
    run: (opts: Options & StorageChange) => Promise<void>,
  ): Promise<void> {
    const access = { capability: 'fs_reach.write', operation, target: textOf(target) } as const;
    return recordAccess(this.#scope, access, (allow) => {
      const allowChange = () => allow(() => this.#scope.spend('files_written', 1));
      // Only a storage that can be contained is certain to announce its changes.
      if (this.#storage.contained === undefined) allowChange();
      return run({
        ...Object(opts),
        beforeChange: () => {
          if (this.#storage.contained !== undefined) allowChange();
          opts?.beforeChange?.();
        },
      });
    });
  }
}
