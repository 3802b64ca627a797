import { setImmediate } from 'node:timers/promises';
import { incrementKvValue } from '@ethosagent/policy';
import type { KeyValueStore } from '@ethosagent/types';
import { type AccessScope, type Allow, recordAccess, textOf } from '../access.js';
import { isAtomic } from '../checked/checked-kv.js';
import { writeEntry } from '../quotas/write-entry.js';
import type { NamespaceTurns } from './namespace-turns.js';

export interface ScopedKvOptions {
  /** In seconds; for a `set` that names no TTL. */
  ttlSecondsDefault?: number | undefined;
  scope?: AccessScope | undefined;
  /** The id of the store's namespace. */
  namespace?: string;
  /** Where the call waits for the namespace. Absent when calls need not take turns. */
  turns?: NamespaceTurns | undefined;
}

type SetOptions = { ttlSeconds?: number };

/** The entry that an operation is about. */
interface Entry {
  key: string;
  /**
   * The new value of the key; `null` for a removal; absent for an operation that changes nothing.
   */
  value?: string | null;
}

/**
 * A store as a tool sees it: with the declared TTL, and reserved for the call from its first use to
 * its end.
 */
class ScopedKvImpl implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #options: ScopedKvOptions;
  #turn: Promise<void> | undefined;

  constructor(store: KeyValueStore, options: ScopedKvOptions = {}) {
    this.#store = store;
    this.#options = options;
  }

  get(key: string): Promise<string | null> {
    return this.access('get', { key }, () => this.#store.get(key));
  }

  set(key: string, value: string, opts?: SetOptions): Promise<void> {
    const write = () => {
      const ttl = this.withTtl(opts);
      return ttl === undefined ? this.#store.set(key, value) : this.#store.set(key, value, ttl);
    };
    return this.access('set', { key, value }, write);
  }

  delete(key: string): Promise<void> {
    return this.access('delete', { key, value: null }, () => this.#store.delete(key));
  }

  list(prefix: string): Promise<string[]> {
    return this.access('list', { key: prefix }, () => this.#store.list(prefix));
  }

  protected withTtl(opts: SetOptions | undefined): SetOptions | undefined {
    if (opts?.ttlSeconds !== undefined) return opts;
    const { ttlSecondsDefault } = this.#options;
    return ttlSecondsDefault === undefined ? opts : { ttlSeconds: ttlSecondsDefault };
  }

  protected get isCapped(): boolean {
    return this.#options.scope?.capsStore === true;
  }

  protected access<T>(operation: string, entry: Entry, run: () => Promise<T>): Promise<T> {
    return this.inTurn(operation, entry.key, (allow) => this.change(allow, entry, run));
  }

  protected change<T>(allow: Allow, { key, value }: Entry, run: () => Promise<T>): Promise<T> {
    const { scope, namespace = '' } = this.#options;
    if (value !== undefined && scope?.capsStore === true) {
      return writeEntry({ scope, allow }, { namespace, key, value }, run);
    }
    allow();
    return run();
  }

  protected inTurn<T>(
    operation: string,
    key: string,
    run: (allow: Allow) => Promise<T>,
  ): Promise<T> {
    const { scope, turns, namespace = '' } = this.#options;
    const access = {
      capability: 'storage',
      operation,
      target: textOf(key),
      rule: `namespace ${namespace}`,
    } as const;
    return recordAccess(scope, access, async (allow) => {
      if (turns !== undefined && scope !== undefined) {
        this.#turn ??= turns.acquire(namespace, scope);
        await this.#turn;
        scope.assertLive();
      }
      return run(allow);
    });
  }
}

/** The same for a store that has the atomic methods too. */
class AtomicScopedKvImpl extends ScopedKvImpl {
  readonly #atomic: Pick<Required<KeyValueStore>, 'get' | 'increment' | 'compareAndSet'>;

  constructor(store: Required<KeyValueStore>, options: ScopedKvOptions) {
    super(store, options);
    this.#atomic = store;
  }

  increment(key: string, by?: number, opts?: SetOptions): Promise<number> {
    const ttl = this.withTtl(opts);
    if (!this.isCapped) {
      return this.access('increment', { key }, () => this.#atomic.increment(key, by, ttl));
    }
    // The sum is computed here: its length must be known before it is written.
    return this.inTurn('increment', key, async (allow) => {
      for (;;) {
        const current = await this.#atomic.get(key);
        const sum = incrementKvValue(current, by ?? 1);
        const value = String(sum);
        const swap = () => this.#atomic.compareAndSet(key, current, value, ttl);
        if (await this.change(allow, { key, value }, swap)) return sum;
        // Lets timers run. Without this, a store that always refuses the swap would keep the
        // deadline of the call from firing.
        await setImmediate();
      }
    });
  }

  // biome-ignore lint/complexity/useMaxParams: a documented signature
  compareAndSet(
    key: string,
    expected: string | null,
    value: string,
    opts?: SetOptions,
  ): Promise<boolean> {
    const swap = () => this.#atomic.compareAndSet(key, expected, value, this.withTtl(opts));
    return this.access('compareAndSet', { key, value }, swap);
  }
}

/** A store for one call. It has the atomic methods if the backend's store has both. */
export function scopedKv(store: KeyValueStore, options: ScopedKvOptions): KeyValueStore {
  return isAtomic(store)
    ? new AtomicScopedKvImpl(store, options)
    : new ScopedKvImpl(store, options);
}
