import {
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';

/** A call of a method of a storage. */
export interface StorageCall extends StoragePlace {
  readonly operation: StorageLook | StorageChangeCall['operation'];
}

/**
 * A function that runs for each call of a storage. It can act before and after `run`, which makes
 * the call, or throw without it. The caller gets what it returns.
 */
export type AroundStorage = <T>(call: StorageCall, run: () => Promise<T>) => Promise<T>;

/**
 * Wraps a storage so that a function runs around each call, for a log, a metric or a delay. The
 * wrapped storage still checks every path. `around` gets the paths as the caller gave them, and
 * denials as errors.
 *
 * @param storage the storage to wrap
 * @param around gets the call, and `run`, which makes it; its result is the result of the call
 * @returns the wrapped storage
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
