import type { KeyValueStore, QuotaLimits, QuotaName } from '@ethosagent/types';
import type { Meter } from './meter.js';

/** Seconds after which what a session used is forgotten, once it uses no more. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

/** What 1 stands for in the shared counts, which are integers. */
const UNITS: Record<QuotaName, number> = {
  requests: 1,
  bytes_in: 1,
  bytes_out: 1,
  process_seconds: 0.001,
  files_written: 1,
  store_bytes: 1,
};

const QUOTAS = Object.keys(UNITS) as QuotaName[];

/** A store that several processes count in. */
export type CountingStore = KeyValueStore & Required<Pick<KeyValueStore, 'increment'>>;

/**
 * What one session used in all processes. Each process adds to the shared counts what it used, and
 * learns from the sums what the others did. Between two rounds it knows only its own use.
 */
export class SharedUse {
  readonly #store: CountingStore;
  readonly #sessionId: string;
  readonly #meter: Meter;
  /** In whole units: what this process has added to the shared counts. */
  readonly #added = new Map<QuotaName, number>();
  /** Those that were capped when the session was used. */
  readonly #capped = new Set<QuotaName>();
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(store: CountingStore, { sessionId, meter }: { sessionId: string; meter: Meter }) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#meter = meter;
  }

  /**
   * Adds what was used here since the last round, and learns what was used elsewhere: of the quotas
   * that are capped. Rounds follow each other; whoever comes while one runs shares the next one.
   *
   * @throws what the store throws; what was not added is added by the next round
   */
  exchange(caps: QuotaLimits = {}): Promise<void> {
    for (const quota of QUOTAS) if (caps[quota] !== undefined) this.#capped.add(quota);
    this.#next ??= this.#last.then(async () => {
      this.#next = undefined;
      await Promise.all([...this.#capped].map((quota) => this.#exchangeOne(quota)));
    });
    const next = this.#next;
    this.#last = next.catch(() => {});
    return next;
  }

  /** Whether something was used here that the other processes don't know of. */
  get hasMore(): boolean {
    return [...this.#capped].some((quota) => this.#unitsHere(quota) !== this.#added.get(quota));
  }

  /** The session begins anew, in all processes. */
  async remove(): Promise<void> {
    await Promise.all(QUOTAS.map((quota) => this.#store.delete(this.#keyOf(quota))));
  }

  async #exchangeOne(quota: QuotaName): Promise<void> {
    const before = this.#added.get(quota) ?? 0;
    const here = this.#unitsHere(quota);
    const key = this.#keyOf(quota);
    const sum =
      here === before
        ? Number((await this.#store.get(key)) ?? 0)
        : await this.#store.increment(key, here - before, { ttlSeconds: KEPT_SECONDS });
    this.#added.set(quota, here);
    this.#meter.noteElsewhere(quota, Math.max(0, sum - here) * UNITS[quota]);
  }

  #unitsHere(quota: QuotaName): number {
    return Math.round(this.#meter.usedHere(quota) / UNITS[quota]);
  }

  #keyOf(quota: QuotaName): string {
    return `${quota}:${this.#sessionId}`;
  }
}
