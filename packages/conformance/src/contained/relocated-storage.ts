import { join, resolve } from 'node:path';
import {
  type ContainedReach,
  EthosError,
  type Storage,
  type StorageChange,
  type StorageEntry,
} from '@ethosagent/types';

/**
 * A storage in which every path lies below a folder, so that a tool that declares `/data` finds it
 * in its world. Paths that are of the world already stay.
 */
export class RelocatedStorage implements Storage {
  readonly #storage: Storage;
  readonly #world: string;
  readonly #below: string;

  /**
   * @param world the folder whose paths stay
   * @param below where the others are
   */
  constructor(storage: Storage, world: string, below: string) {
    this.#storage = storage;
    this.#world = world;
    this.#below = below;
  }

  read(path: string) {
    return this.#storage.read(this.#at(path));
  }
  readBytes(path: string) {
    return this.#storage.readBytes(this.#at(path));
  }
  write(path: string, content: string | Uint8Array, opts?: StorageChange & { mode?: number }) {
    return this.#storage.write(this.#at(path), content, opts);
  }
  append(path: string, content: string | Uint8Array, opts?: StorageChange & { mode?: number }) {
    return offeredAppend(this.#storage)(this.#at(path), content, opts);
  }
  exists(path: string) {
    return this.#storage.exists(this.#at(path));
  }
  list(path: string) {
    return this.#storage.list(this.#at(path));
  }
  listEntries(path: string): Promise<StorageEntry[]> {
    return this.#storage.listEntries(this.#at(path));
  }
  mtime(path: string) {
    return this.#storage.mtime(this.#at(path));
  }
  mkdir(path: string, opts?: StorageChange & { mode?: number }) {
    return this.#storage.mkdir(this.#at(path), opts);
  }
  remove(path: string, opts?: StorageChange & { recursive?: boolean }) {
    return this.#storage.remove(this.#at(path), opts);
  }
  rename(from: string, to: string, opts?: StorageChange) {
    return this.#storage.rename(this.#at(from), this.#at(to), opts);
  }

  contained({ read, write, deny = [] }: ContainedReach): Storage {
    const moved = (paths: readonly string[]) => paths.map((path) => this.#at(path));
    const storage = this.#storage.contained?.({
      read: moved(read),
      write: moved(write),
      deny: [...deny, ...moved(deny)],
    });
    if (storage === undefined) {
      throw new EthosError('STORAGE_FAILED', 'the storage has no contained view; use FsStorage');
    }
    return new RelocatedStorage(storage, this.#world, this.#below);
  }

  #at(path: string): string {
    // The storage refuses what can't be a path, and says so better.
    if (path === '' || path.includes('\0')) return path;
    const absolute = resolve(path);
    const isOfWorld = absolute === this.#world || absolute.startsWith(`${this.#world}/`);
    return isOfWorld ? absolute : join(this.#below, absolute);
  }
}

function offeredAppend(storage: Storage): NonNullable<Storage['append']> {
  if (storage.append !== undefined) return storage.append.bind(storage);
  throw new EthosError('STORAGE_FAILED', 'the storage can not append; use FsStorage');
}
