import type { KeyValueStore } from '@ethosagent/types';
import { type AccessScope, recordAccess } from '../access.js';
import type { NamespaceTurns } from './namespace-turns.js';

export interface ScopedKvOptions {
  /** Seconds, for a `set` that names no TTL. */
  ttlSecondsDefault?: number | undefined;
  scope?: AccessScope | undefined;
  /** Where the call takes its turn, and for which namespace. Absent: no turn-taking. */
  turns?: { queue: NamespaceTurns; namespace: string } | undefined;
}

type SetOptions = { ttlSeconds?: number };

/** A store as a tool sees it: with the declared TTL, and to itself from its first use to its end. */
class ScopedKvImpl implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #options: ScopedKvOptions;
  #turn: Promise<void> | undefined;

  constructor(store: KeyValueStore, options: ScopedKvOptions = {}) {
    this.#store = store;
    this.#options = options;
  }

  get(key: string): Promise<string | null> {
    return this.access('get', key, () => this.#store.get(key));
  }

  set(key: string, value: string, opts?: SetOptions): Promise<void> {
    return this.access('set', key, () => {
      const ttl = this.withTtl(opts);
      return ttl === undefined ? this.#store.set(key, value) : this.#store.set(key, value, ttl);
    });
  }

  delete(key: string): Promise<void> {
    return this.access('delete', key, () => this.#store.delete(key));
  }

  list(prefix: string): Promise<string[]> {
    return this.access('list', prefix, () => this.#store.list(prefix));
  }

  protected withTtl(opts: SetOptions | undefined): SetOptions | undefined {
    if (opts?.ttlSeconds !== undefined) return opts;
    const { ttlSecondsDefault } = this.#options;
    return ttlSecondsDefault === undefined ? opts : { ttlSeconds: ttlSecondsDefault };
  }

  protected access<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    const { scope, turns } = this.#options;
    const access = { capability: 'storage', operation, target: String(key) } as const;
    return recordAccess(scope, access, async (allow) => {
      if (turns !== undefined && scope !== undefined) {
        this.#turn ??= turns.queue.acquire(turns.namespace, scope);
        await this.#turn;
        scope.assertLive();
      }
      allow();
      return run();
    });
  }
}

/** The same over a store that offers more than the four methods. */
class AtomicScopedKvImpl extends ScopedKvImpl {
  readonly #atomic: Pick<Required<KeyValueStore>, 'increment' | 'compareAndSet'>;

  constructor(store: Required<KeyValueStore>, options: ScopedKvOptions) {
    super(store, options);
    this.#atomic = store;
  }

  increment(key: string, by?: number, opts?: SetOptions): Promise<number> {
    return this.access('increment', key, () => this.#atomic.increment(key, by, this.withTtl(opts)));
  }

  compareAndSet(
    key: string,
    expected: string | null,
    value: string,
    opts?: SetOptions,
  ): Promise<boolean> {
    return this.access('compareAndSet', key, () =>
      this.#atomic.compareAndSet(key, expected, value, this.withTtl(opts)),
    );
  }
}

/** A store for one call, with the atomic methods where the backend's has both. */
export function scopedKv(store: KeyValueStore, options: ScopedKvOptions): KeyValueStore {
  return isAtomic(store)
    ? new AtomicScopedKvImpl(store, options)
    : new ScopedKvImpl(store, options);
}

function isAtomic(store: KeyValueStore): store is Required<KeyValueStore> {
  return store.increment !== undefined && store.compareAndSet !== undefined;
}
