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
 * A storage in front of another one, without its contained view. A subclass overrides `look` and
 * `change`, through which every operation goes, to judge, to record, or to move paths elsewhere.
 */
export class ForwardingStorage implements Storage {
  readonly #storage: Storage;
  /** Present where the storage behind can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  constructor(storage: Storage) {
    this.#storage = storage;
    const { append } = storage;
    if (append !== undefined) {
      this.append = (path, content, opts) =>
        this.change({ operation: 'append', path, content }, opts, (at, all) =>
          append.call(storage, at.path, content, all),
        );
    }
  }

  read(path: string): Promise<string | null> {
    return this.look('read', path, (at) => this.#offered('read').read(at));
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return this.look('readBytes', path, (at) => this.#offered('readBytes').readBytes(at));
  }

  exists(path: string): Promise<boolean> {
    return this.look('exists', path, (at) => this.#offered('exists').exists(at));
  }

  list(path: string): Promise<string[]> {
    return this.look('list', path, (at) => this.#offered('list').list(at));
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.look('listEntries', path, (at) => this.#offered('listEntries').listEntries(at));
  }

  mtime(path: string): Promise<number | null> {
    return this.look('mtime', path, (at) => this.#offered('mtime').mtime(at));
  }

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return this.change({ operation: 'write', path, content }, opts, (at, all) =>
      this.#offered('write').write(at.path, content, all),
    );
  }

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return this.change({ operation: 'mkdir', path }, opts, (at, all) =>
      this.#offered('mkdir').mkdir(at.path, all),
    );
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return this.change({ operation: 'remove', path }, opts, (at, all) =>
      this.#offered('remove').remove(at.path, all),
    );
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    return this.change({ operation: 'rename', path: from, to }, opts, (at, all) =>
      this.#offered('rename').rename(at.path, at.to ?? to, all),
    );
  }

  /** @param run asks the storage behind, at a path */
  protected look<Operation extends StorageLook>(
    _operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    return run(path);
  }

  /** @param run changes the storage behind, at a place */
  protected change(
    call: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    return run(call, opts);
  }

  /** A mock need not have every method. @throws `STORAGE_FAILED` */
  #offered(name: keyof Storage): Storage {
    if (this.#storage[name] !== undefined) return this.#storage;
    throw new EthosError('STORAGE_FAILED', `the storage behind this tool does not offer ${name}`);
  }
}
