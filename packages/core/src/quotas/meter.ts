import type { QuotaName } from '@ethosagent/types';
import { StoreMeter } from './store-meter.js';
import { TimeMeter } from './time-meter.js';

/** The quotas of which an access takes a fixed amount. */
export type CountedQuota = Exclude<QuotaName, 'process_seconds' | 'store_bytes'>;

/** What a call or a session has used up. */
export class Meter {
  readonly time = new TimeMeter();
  readonly store = new StoreMeter();
  readonly #counts: Record<CountedQuota, number> = {
    requests: 0,
    bytes_in: 0,
    bytes_out: 0,
    files_written: 0,
  };

  readonly #elsewhere = new Map<QuotaName, number>();

  /** Used in all processes, as far as this process knows. */
  used(quota: QuotaName): number {
    return this.usedHere(quota) + this.usedElsewhere(quota);
  }

  /** Used in other processes, according to the last exchange. */
  usedElsewhere(quota: QuotaName): number {
    return this.#elsewhere.get(quota) ?? 0;
  }

  noteElsewhere(quota: QuotaName, amount: number): void {
    this.#elsewhere.set(quota, amount);
  }

  usedHere(quota: QuotaName): number {
    if (quota === 'process_seconds') return this.time.seconds;
    if (quota === 'store_bytes') return this.store.bytes;
    return this.#counts[quota];
  }

  add(quota: CountedQuota, amount: number): void {
    this.#counts[quota] += amount;
  }
}
