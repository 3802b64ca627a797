import { isBoolean } from '@ethosagent/policy';
import { EthosError, type KeyValueStore } from '@ethosagent/types';
import { answerOf, doneBy, isNumber, isTextOrNull, isTexts, typedError } from './check-answer.js';

const KIND = { code: 'STORE_UNAVAILABLE', name: 'the key-value store' } as const;

type SetOptions = { ttlSeconds?: number };

/** A store that checks the answers of a backend, and gives its failures a code. */
class CheckedKv implements KeyValueStore {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  get(key: string): Promise<string | null> {
    return answerOf({ kind: KIND, method: 'get', isAnswer: isTextOrNull }, () =>
      this.#store.get(key),
    );
  }

  set(key: string, value: string, opts?: SetOptions): Promise<void> {
    return doneBy(KIND, 'set', () =>
      opts === undefined ? this.#store.set(key, value) : this.#store.set(key, value, opts),
    );
  }

  delete(key: string): Promise<void> {
    return doneBy(KIND, 'delete', () => this.#store.delete(key));
  }

  list(prefix: string): Promise<string[]> {
    return answerOf({ kind: KIND, method: 'list', isAnswer: isTexts }, () =>
      this.#store.list(prefix),
    );
  }
}

/** The same for a store that has the atomic methods too. */
class CheckedAtomicKv extends CheckedKv implements Required<KeyValueStore> {
  readonly #atomic: Required<KeyValueStore>;

  constructor(store: Required<KeyValueStore>) {
    super(store);
    this.#atomic = store;
  }

  increment(key: string, by?: number, opts?: SetOptions): Promise<number> {
    return answerOf({ kind: KIND, method: 'increment', isAnswer: isNumber }, () =>
      this.#atomic.increment(key, by, opts),
    );
  }

  // biome-ignore lint/complexity/useMaxParams: a documented signature
  compareAndSet(
    key: string,
    expected: string | null,
    value: string,
    opts?: SetOptions,
  ): Promise<boolean> {
    const swap = () => this.#atomic.compareAndSet(key, expected, value, opts);
    return answerOf({ kind: KIND, method: 'compareAndSet', isAnswer: isBoolean }, swap);
  }
}

/**
 * Asks a factory for the store of a namespace. The result has the atomic methods if the store has
 * both.
 * @throws `STORE_UNAVAILABLE`, or an error of the factory that has a code
 */
export function checkedKv(
  factory: (tool: string, scopeId: string) => KeyValueStore,
  tool: string,
  scopeId: string,
): KeyValueStore {
  let store: unknown;
  try {
    store = factory(tool, scopeId);
  } catch (error) {
    throw typedError(KIND, 'kvStoreFactory', error);
  }
  if (!isStore(store)) {
    throw new EthosError(KIND.code, 'kvStoreFactory gave no store; ask the operator to fix it');
  }
  return isAtomic(store) ? new CheckedAtomicKv(store) : new CheckedKv(store);
}

function isStore(store: unknown): store is KeyValueStore {
  return typeof store === 'object' && store !== null && 'get' in store && 'set' in store;
}

export function isAtomic(store: KeyValueStore): store is Required<KeyValueStore> {
  return store.increment !== undefined && store.compareAndSet !== undefined;
}
