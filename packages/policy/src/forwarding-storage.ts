import { EthosError, type Storage, type StorageChange, type StorageEntry } from '@ethosagent/types';

/** The operations of a storage that change nothing. */
export type StorageLook = 'read' | 'readBytes' | 'exists' | 'list' | 'listEntries' | 'mtime';

/** What such an operation answers. */
export type StorageAnswer<Operation extends StorageLook> = Awaited<ReturnType<Storage[Operation]>>;

/** Where an operation changes something. */
export interface StoragePlace {
  readonly path: string;
  /** Where a `rename` leads. */
  readonly to?: string;
}

/** An operation that changes something. */
export interface StorageChangeCall extends StoragePlace {
  readonly operation: 'write' | 'append' | 'mkdir' | 'remove' | 'rename';
  /** What is written or appended. */
  readonly content?: string | Uint8Array;
}

/** The options of all operations that change something. */
export type StorageChangeOptions = StorageChange & { mode?: number; recursive?: boolean };

/**
 * A storage of which only the four documented methods are certain to exist, such as one in a test.
 */
export type ForwardableStorage = Pick<Storage, 'read' | 'write' | 'exists' | 'list'> &
  Partial<Storage>;

/**
 * A storage in front of another one, without its contained view. A subclass overrides `look` and
 * `change`, through which every operation goes, to judge, to record, or to move paths elsewhere.
 */
export class ForwardingStorage implements Storage {
  readonly #storage: ForwardableStorage;
  /** Present where the storage behind can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  /**
   * Offers `append` only where the storage behind it does.
   *
   * @param storage where all calls go
   */
  constructor(storage: ForwardableStorage) {
    this.#storage = storage;
    const { append } = storage;
    if (append !== undefined) {
      this.append = (path, content, opts) =>
        this.change({ operation: 'append', path, content }, opts, (at, all) =>
          append.call(storage, at.path, content, ...given(all)),
        );
    }
  }

  read(path: string): Promise<string | null> {
    return this.look('read', path, (at) =>
      offered(this.#storage.read, 'read').call(this.#storage, at),
    );
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return this.look('readBytes', path, (at) =>
      offered(this.#storage.readBytes, 'readBytes').call(this.#storage, at),
    );
  }

  exists(path: string): Promise<boolean> {
    return this.look('exists', path, (at) =>
      offered(this.#storage.exists, 'exists').call(this.#storage, at),
    );
  }

  list(path: string): Promise<string[]> {
    return this.look('list', path, (at) =>
      offered(this.#storage.list, 'list').call(this.#storage, at),
    );
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.look('listEntries', path, (at) =>
      offered(this.#storage.listEntries, 'listEntries').call(this.#storage, at),
    );
  }

  mtime(path: string): Promise<number | null> {
    return this.look('mtime', path, (at) =>
      offered(this.#storage.mtime, 'mtime').call(this.#storage, at),
    );
  }

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return this.change({ operation: 'write', path, content }, opts, (at, all) =>
      offered(this.#storage.write, 'write').call(this.#storage, at.path, content, ...given(all)),
    );
  }

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return this.change({ operation: 'mkdir', path }, opts, (at, all) =>
      offered(this.#storage.mkdir, 'mkdir').call(this.#storage, at.path, ...given(all)),
    );
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return this.change({ operation: 'remove', path }, opts, (at, all) =>
      offered(this.#storage.remove, 'remove').call(this.#storage, at.path, ...given(all)),
    );
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    return this.change({ operation: 'rename', path: from, to }, opts, (at, all) =>
      offered(this.#storage.rename, 'rename').call(
        this.#storage,
        at.path,
        at.to ?? to,
        ...given(all),
      ),
    );
  }

  /**
   * Every call that reads goes through here. A subclass checks it, and gives the path to `run`.
   *
   * @param _operation the name of the method
   * @param path as the caller gave it
   * @param run asks the storage behind, at a path
   * @returns what the storage answered
   */
  protected look<Operation extends StorageLook>(
    _operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return run(path);
  }

  /**
   * Every call that changes something goes through here. A subclass checks it, and gives the place
   * to `run`.
   *
   * @param call the name of the method, its path, and the content or the second path
   * @param opts the options as the caller gave them
   * @param run changes the storage behind, at a place
   */
  protected change(
    call: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    return run(call, opts);
  }
}

/** A mock need not have every method. @throws `STORAGE_FAILED` */
function offered<T>(method: T | undefined, name: string): T {
  if (method !== undefined) return method;
  throw new EthosError('STORAGE_FAILED', `the storage behind this tool does not offer ${name}`);
}

/**
 * Options to pass on. If there are none, no argument is passed, since a mock would see an
 * `undefined`.
 */
function given<T>(options: T | undefined): [] | [T] {
  return options === undefined ? [] : [options];
}
