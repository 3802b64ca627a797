import {
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';

/** A call of a storage, as whoever stands around it sees it. */
export interface StorageCall extends StoragePlace {
  readonly operation: StorageLook | StorageChangeCall['operation'];
}

/**
 * Stands around the calls of a storage. It may do something before and after `run`, and throw
 * instead; what it returns is the answer.
 */
export type AroundStorage = <T>(call: StorageCall, run: () => Promise<T>) => Promise<T>;

/**
 * A storage with a function around each of its calls, for a log, a metric or a delay. The storage
 * behind still checks every path. `around` stands in front: it sees paths as they were asked for,
 * and denials as errors.
 *
 * @param storage the storage behind
 * @param around gets the call, and `run`, which makes it
 * @returns the storage
 * @example
 * const storage = wrapStorage(new FsStorage(), async ({ operation, path }, run) => {
 *   const startedAt = performance.now();
 *   try {
 *     return await run();
 *   } finally {
 *     console.log(operation, path, performance.now() - startedAt);
 *   }
 * });
 */
export function wrapStorage(storage: Storage, around: AroundStorage): Storage {
  return new WrappedStorage(storage, around);
}

class WrappedStorage extends ForwardingStorage {
  readonly #around: AroundStorage;
  /** Present if the wrapped storage can be contained. */
  declare readonly contained?: (reach: ContainedReach) => Storage;

  constructor(storage: Storage, around: AroundStorage) {
    super(storage);
    this.#around = around;
    const { contained } = storage;
    if (contained !== undefined) {
      this.contained = (reach) => new WrappedStorage(contained.call(storage, reach), around);
    }
  }

  protected override look<Operation extends StorageLook>(
    operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return this.#around({ operation, path }, () => run(path));
  }

  protected override change(
    { operation, path, to }: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const place = { path, ...(to !== undefined && { to }) };
    return this.#around({ operation, ...place }, () => run(place, opts));
  }
}
