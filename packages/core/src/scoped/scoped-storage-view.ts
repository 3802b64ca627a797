import { resolve } from 'node:path';
import {
  ForwardingStorage,
  pathProblem,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { type AccessScope, recordAccess, textOf } from '../access.js';
import type { AccessBasis } from '../call-scope.js';

/**
 * A storage for one call. Every access is recorded, and every access after the end of the call is
 * refused.
 */
export class ScopedStorageView extends ForwardingStorage {
  readonly #storage: Storage;
  readonly #scope: AccessScope;
  /** Present if the storage can be contained. */
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
    const basis = basisOf(path);
    const access = { capability: 'fs_reach.read', operation, target: textOf(path), basis } as const;
    const sources = this.#scope.taint?.sources;
    return recordAccess(this.#scope, access, async () => {
      if (typeof path === 'string') sources?.noteFile(path);
      else sources?.noteKept(undefined);
      try {
        return await run(path);
      } finally {
        if (typeof path === 'string') sources?.noteFile(path);
      }
    });
  }

  protected override change(
    call: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const { operation, path, to } = call;
    const target = operation === 'rename' ? `${textOf(path)} -> ${textOf(to)}` : textOf(path);
    const basis = operation === 'rename' ? basisOf(path, to) : basisOf(path);
    const access = { capability: 'fs_reach.write', operation, target, basis } as const;
    return recordAccess(this.#scope, access, async (allow) => {
      const paths = [path, to].filter((each) => typeof each === 'string');
      const moved = to === undefined ? undefined : path;
      await this.#scope.taint?.sources?.beforeWrite(paths, moved);
      const allowChange = () => allow(() => this.#scope.spend('files_written', 1));
      // Only a storage that can be contained is certain to call `beforeChange`.
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

/** The roots that cover the paths are looked up later, when somebody asks for an explanation. */
function basisOf(...paths: unknown[]): AccessBasis {
  const asked = paths.flatMap((path) =>
    typeof path === 'string' && pathProblem(path) === undefined ? [resolve(path)] : [],
  );
  return { asked };
}
