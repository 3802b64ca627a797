import {
  ForwardingStorage,
  isBoolean,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from '@ethosagent/policy';
import {
  type ContainedReach,
  EthosError,
  type Storage,
  type StorageEntry,
} from '@ethosagent/types';
import {
  answerOf,
  doneBy,
  isBytes,
  isBytesOrNull,
  isNumberOrNull,
  isTextOrNull,
  isTexts,
  typedError,
} from './check-answer.js';

const KIND = { code: 'STORAGE_FAILED', name: 'the storage' } as const;

const IS_ANSWER: {
  readonly [Operation in StorageLook]: (answer: unknown) => answer is StorageAnswer<Operation>;
} = {
  read: isTextOrNull,
  readBytes: isBytesOrNull,
  exists: isBoolean,
  list: isTexts,
  listEntries: isEntries,
  mtime: isNumberOrNull,
};

/** A storage that checks the answers of a backend, and gives its failures a code. */
class CheckedStorage extends ForwardingStorage {
  readonly #storage: Storage;
  /** Present if the storage can be contained. */
  declare readonly contained?: (reach: ContainedReach) => Storage;

  constructor(storage: Storage) {
    super(storage);
    this.#storage = storage;
    if (storage.contained !== undefined) this.contained = (reach) => this.#contained(reach);
  }

  protected override look<Operation extends StorageLook>(
    operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return answerOf({ kind: KIND, method: operation, isAnswer: IS_ANSWER[operation] }, () =>
      run(path),
    );
  }

  protected override change(
    call: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const { operation } = call;
    return guardChange(operation, opts, (own) => {
      if (operation === 'write' || operation === 'append') assertContent(call.content);
      return run(call, own);
    });
  }

  #contained(reach: ContainedReach): Storage {
    let view: unknown;
    try {
      view = this.#storage.contained?.(reach);
    } catch (error) {
      throw typedError(KIND, 'contained', error);
    }
    if (isStorage(view)) return checkedStorage(view);
    throw new EthosError(
      KIND.code,
      'the storage of the host cannot confine itself to the folders that are allowed, so nothing was read or written; ask the operator to fix it',
    );
  }
}

const checked = new WeakMap<Storage, Storage>();

/** Checks a storage. The same storage always gives the same object. */
export function checkedStorage(storage: Storage): Storage {
  let known = checked.get(storage);
  if (known === undefined) {
    known = new CheckedStorage(storage);
    checked.set(storage, known);
    // A storage that is already checked is not checked twice.
    checked.set(known, known);
  }
  return known;
}

/** An error of `beforeChange` belongs to the caller, so it is thrown unchanged. */
function guardChange(
  method: string,
  opts: StorageChangeOptions | undefined,
  run: (opts: StorageChangeOptions | undefined) => unknown,
): Promise<void> {
  const { beforeChange } = opts ?? {};
  if (opts === undefined || beforeChange === undefined)
    return doneBy(KIND, method, () => run(opts));
  let refusal: { readonly error: unknown } | undefined;
  const noted = () => {
    try {
      beforeChange();
    } catch (error) {
      refusal = { error };
      throw error;
    }
  };
  return doneBy(KIND, method, () => run({ ...opts, beforeChange: noted })).catch((error) => {
    throw refusal === undefined ? error : refusal.error;
  });
}

/** Other values would be converted to bytes too, mostly to no bytes at all. */
function assertContent(content: unknown): void {
  if (typeof content === 'string' || isBytes(content)) return;
  throw new EthosError('VALUE_INVALID', 'the content of a file is a string or a Uint8Array');
}

function isStorage(value: unknown): value is Storage {
  return typeof value === 'object' && value !== null && 'read' in value;
}

function isEntries(answer: unknown): answer is StorageEntry[] {
  return (
    Array.isArray(answer) &&
    answer.every(
      (entry) =>
        typeof entry === 'object' &&
        entry !== null &&
        typeof entry.name === 'string' &&
        typeof entry.isDir === 'boolean',
    )
  );
}
