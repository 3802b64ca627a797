import type { KeyValueStore, QuotaLimits, QuotaName } from '@ethosagent/types';
import type { Meter } from './meter.js';

/** How many seconds the use of a session is kept after its last change. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

/** How much one unit of a shared count stands for. The shared counts are integers. */
const UNITS: Record<QuotaName, number> = {
  requests: 1,
  bytes_in: 1,
  bytes_out: 1,
  process_seconds: 0.001,
  files_written: 1,
  store_bytes: 1,
};

const QUOTAS = Object.keys(UNITS) as QuotaName[];

/** A store in which several processes can count. */
export type CountingStore = KeyValueStore & Required<Pick<KeyValueStore, 'increment'>>;

/**
 * What one session used in all processes. Each process adds its own use to the shared counts, and
 * learns from the sums what the others used. Between two exchanges it knows only its own use.
 */
export class SharedUse {
  readonly #store: CountingStore;
  readonly #sessionId: string;
  readonly #meter: Meter;
  /** In whole units: what this process has already added to the shared counts. */
  readonly #added = new Map<QuotaName, number>();
  /** The quotas that were capped when the session was used. */
  readonly #capped = new Set<QuotaName>();
  #wasRemoved = false;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(store: CountingStore, { sessionId, meter }: { sessionId: string; meter: Meter }) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#meter = meter;
  }

  /**
   * Adds what was used here since the last round, and learns what was used elsewhere, for the
   * quotas that are capped. Rounds run one after another. Calls that come during a round share the
   * next one.
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

  /** Whether the counts had less than this process has added, so the session has begun again. */
  get wasRemoved(): boolean {
    return this.#wasRemoved;
  }

  /** Whether something was used here that the other processes don't know yet. */
  get hasMore(): boolean {
    return [...this.#capped].some((quota) => this.#unitsHere(quota) !== this.#added.get(quota));
  }

  /** Removes the counts, so that the session starts again in all processes. */
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
    if (before > 0 && sum < here) this.#wasRemoved = true;
    this.#meter.noteElsewhere(quota, Math.max(0, sum - here) * UNITS[quota]);
  }

  #unitsHere(quota: QuotaName): number {
    return Math.round(this.#meter.usedHere(quota) / UNITS[quota]);
  }

  #keyOf(quota: QuotaName): string {
    return `${quota}:${this.#sessionId}`;
  }
}
