import {
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { type AccessScope, recordAccess, textOf } from '../access.js';

/** A storage for one call: every access is recorded, and none comes after the call. */
export class ScopedStorageView extends ForwardingStorage {
  readonly #storage: Storage;
  readonly #scope: AccessScope;
  /** Present where the storage can be held to less. */
  declare readonly contained?: (reach: ContainedReach) => Storage;

  constructor(storage: Storage, scope: AccessScope) {
    super(storage);
    this.#storage = storage;
    this.#scope = scope;
    if (storage.contained !== undefined) {
      this.contained = (reach) =>
        new ScopedStorageView(storage.contained?.(reach) ?? storage, scope);
    }
  }

  protected override look<Operation extends StorageLook>(
    operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    const access = { capability: 'fs_reach.read', operation, target: textOf(path) } as const;
    return recordAccess(this.#scope, access, () => run(path));
  }

  protected override change(
    call: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const { operation, path, to } = call;
    const target = operation === 'rename' ? `${textOf(path)} -> ${textOf(to)}` : textOf(path);
    const access = { capability: 'fs_reach.write', operation, target } as const;
    return recordAccess(this.#scope, access, (allow) => {
      const allowChange = () => allow(() => this.#scope.spend('files_written', 1));
      // Only a storage that can be contained is certain to announce its changes.
      if (this.#storage.contained === undefined) allowChange();
      return run(call, {
        ...Object(opts),
        beforeChange: () => {
          if (this.#storage.contained !== undefined) allowChange();
          opts?.beforeChange?.();
        },
      });
    });
  }
}
