import type { KeyValueStore } from './tool-capabilities.js';

/** The key-value store of one namespace. Equal scope ids share their keys, whichever tool asks. */
export type KeyValueStoreFactory = (tool: string, scopeId: string) => KeyValueStore;

/** Secrets by their refs. */
export interface SecretStore {
  /**
   * @throws `SECRET_NOT_FOUND`; `SECRETS_UNAVAILABLE` when it can't be known whether there is one
   */
  get(ref: string): Promise<string>;
  /** Present, like `delete`, where secrets can be stored. */
  set?(ref: string, value: string): Promise<void>;
  /** Removes a secret; nothing happens when it is absent. */
  delete?(ref: string): Promise<void>;
  /** The refs in code point order. Absent where the store can't list them. */
  list?(): Promise<string[]>;
}

/** A store that was opened for one user. That user closes it. */
export interface OpenedStore<T> {
  readonly store: T;
  /** Finishes pending writes and gives back what the store holds open. Called once. */
  close?(): void | Promise<void>;
  /** What an operator has to fix now, such as a database that does not answer. Without secrets. */
  problem?(): string | undefined | Promise<string | undefined>;
}

/** Opens a store. The caller of `open` closes the store. */
export interface StoreOpener<T> {
  /** Opens the store, for one caller. */
  open(): OpenedStore<T> | Promise<OpenedStore<T>>;
}
