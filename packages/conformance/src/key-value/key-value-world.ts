import type { KeyValueStore } from '@ethosagent/types';
import { afterAll, beforeAll } from 'vitest';

/** A key-value backend to test. */
export interface KeyValueBackend {
  /** Returns the store of a tool in a scope. */
  kvStoreFactory: (tool: string, scopeId: string) => KeyValueStore;
  /** Closes the backend. */
  close?: () => void | Promise<void>;
}

/** Creates an empty backend that reads the time, in milliseconds, from `clock`. */
export type CreateKeyValue = (options: {
  clock: () => number;
}) => KeyValueBackend | Promise<KeyValueBackend>;

/** One backend for all tests of a suite. Each test uses a namespace of its own. */
export class KeyValueWorld {
  declare backend: KeyValueBackend;
  /** The time that the backend reads, in milliseconds. */
  now = 1_700_000_000_000;
  #count = 0;

  constructor(create: CreateKeyValue) {
    beforeAll(async () => {
      this.backend = await create({ clock: () => this.now });
    });
    afterAll(async () => {
      await this.backend.close?.();
    });
  }

  /** A number that no other test uses. */
  unique(): number {
    return this.#count++;
  }

  /** A namespace that no other test uses. */
  fresh(): KeyValueStore {
    return this.backend.kvStoreFactory('suite', `suite:${this.unique()}`);
  }
}
