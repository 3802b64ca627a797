import {
  type ContainedReach,
  EthosError,
  type Storage,
  type StorageChange,
  type StorageEntry,
} from '@ethosagent/types';
import {
  answerOf,
  doneBy,
  isBoolean,
  isBytes,
  isBytesOrNull,
  isNumberOrNull,
  isTextOrNull,
  isTexts,
  typedError,
} from './answer.js';
import { offered } from './offered.js';

const KIND = { code: 'STORAGE_FAILED', name: 'the storage' } as const;

/** A storage whose failures are typed, and whose answers are what they should be. */
class CheckedStorage implements Storage {
  readonly #storage: Storage;
  /** Present where the storage can be held to less. */
  declare readonly contained?: (reach: ContainedReach) => Storage;
  /** Present where the storage can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  constructor(storage: Storage) {
    this.#storage = storage;
    if (storage.contained !== undefined) this.contained = (reach) => this.#contained(reach);
    if (storage.append !== undefined) {
      this.append = (path, content, opts) =>
        change('append', opts, (own) => {
          assertContent(content);
          return storage.append?.(path, content, own);
        });
    }
  }

  read(path: string): Promise<string | null> {
    return answerOf(KIND, 'read', () => this.#storage.read(path), isTextOrNull);
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return answerOf(
      KIND,
      'readBytes',
      () => offered(this.#storage.readBytes, 'readBytes').call(this.#storage, path),
      isBytesOrNull,
    );
  }

  exists(path: string): Promise<boolean> {
    return answerOf(KIND, 'exists', () => this.#storage.exists(path), isBoolean);
  }

  list(path: string): Promise<string[]> {
    return answerOf(KIND, 'list', () => this.#storage.list(path), isTexts);
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return answerOf(
      KIND,
      'listEntries',
      () => offered(this.#storage.listEntries, 'listEntries').call(this.#storage, path),
      isEntries,
    );
  }

  mtime(path: string): Promise<number | null> {
    return answerOf(
      KIND,
      'mtime',
      () => offered(this.#storage.mtime, 'mtime').call(this.#storage, path),
      isNumberOrNull,
    );
  }

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return change('write', opts, (own) => {
      assertContent(content);
      return this.#storage.write(path, content, own);
    });
  }

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return change('mkdir', opts, (own) =>
      offered(this.#storage.mkdir, 'mkdir').call(this.#storage, path, own),
    );
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return change('remove', opts, (own) =>
      offered(this.#storage.remove, 'remove').call(this.#storage, path, own),
    );
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    return change('rename', opts, (own) =>
      offered(this.#storage.rename, 'rename').call(this.#storage, from, to, own),
    );
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
      'the storage gave no contained view; ask the operator to mend it',
    );
  }
}

const checked = new WeakMap<Storage, Storage>();

/** Checks a storage; the same object again for the same storage. */
export function checkedStorage(storage: Storage): Storage {
  let known = checked.get(storage);
  if (known === undefined) {
    known = new CheckedStorage(storage);
    checked.set(storage, known);
    // What is checked already is not checked twice.
    checked.set(known, known);
  }
  return known;
}

/** What `beforeChange` throws is the caller's own, and is thrown on as it is. */
function change<Options extends StorageChange>(
  method: string,
  opts: Options | undefined,
  run: (opts: Options | undefined) => unknown,
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

/** Anything else would come out as bytes as well, and mostly as none. */
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
