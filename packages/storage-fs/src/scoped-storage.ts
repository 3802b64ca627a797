import { homedir } from 'node:os';
import { denyFloor } from '@ethosagent/policy';
import type { ContainedReach, Storage, StorageChange, StorageEntry } from '@ethosagent/types';
import { lexicalView } from './lexical-view.js';

/**
 * A storage held to one personality's reach. Denials are `BoundaryError`s; the deny floor is
 * always on.
 *
 * Where `inner` offers a contained view, that does the holding, and links can't leave the reach.
 * Where it doesn't, paths are judged by their text, which contains a storage without links.
 */
export class ScopedStorage implements Storage {
  readonly #view: Storage;
  /** Present where `inner` can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  /**
   * @param inner the storage to hold
   * @param reach absolute roots; `deny` is added to the deny floor
   */
  constructor(inner: Storage, reach: ContainedReach) {
    // A storage of another make may have no floor of its own.
    const deny = [...denyFloor({ home: homedir() }), ...(reach.deny ?? [])];
    this.#view = inner.contained?.({ ...reach, deny }) ?? lexicalView(inner, reach);
    const view = this.#view;
    if (view.append !== undefined) this.append = view.append.bind(view);
  }

  read(path: string): Promise<string | null> {
    return this.#view.read(path);
  }

  readBytes(path: string): Promise<Uint8Array | null> {
    return this.#view.readBytes(path);
  }

  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return this.#view.write(path, content, opts);
  }

  exists(path: string): Promise<boolean> {
    return this.#view.exists(path);
  }

  list(path: string): Promise<string[]> {
    return this.#view.list(path);
  }

  listEntries(path: string): Promise<StorageEntry[]> {
    return this.#view.listEntries(path);
  }

  mtime(path: string): Promise<number | null> {
    return this.#view.mtime(path);
  }

  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return this.#view.mkdir(path, opts);
  }

  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    return this.#view.remove(path, opts);
  }

  rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    return this.#view.rename(from, to, opts);
  }

  /** A view that is held to this storage's reach and to `reach` as well. */
  contained(reach: ContainedReach): Storage {
    return new ScopedStorage(this.#view, reach);
  }
}
