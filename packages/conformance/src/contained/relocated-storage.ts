import { join, resolve } from 'node:path';
import {
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import { type ContainedReach, EthosError, type Storage } from '@ethosagent/types';

/**
 * A storage that moves every path below a folder, so that a tool which declares `/data` finds it in
 * its world. Paths of the world itself stay.
 */
export class RelocatedStorage extends ForwardingStorage {
  readonly #storage: Storage;
  readonly #world: string;
  readonly #below: string;

  /**
   * Wraps a storage.
   * @param world the folder whose paths stay
   * @param below the folder to which the others move
   */
  constructor(storage: Storage, world: string, below: string) {
    super(storage);
    this.#storage = storage;
    this.#world = world;
    this.#below = below;
  }

  protected override look<Operation extends StorageLook>(
    _operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return run(this.#at(path));
  }

  protected override change(
    { path, to }: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    return run({ path: this.#at(path), ...(to !== undefined && { to: this.#at(to) }) }, opts);
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
    // The storage itself refuses an invalid path, with a better message.
    if (path === '' || path.includes('\0')) return path;
    const absolute = resolve(path);
    const isOfWorld = absolute === this.#world || absolute.startsWith(`${this.#world}/`);
    return isOfWorld ? absolute : join(this.#below, absolute);
  }
}
