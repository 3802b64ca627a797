import {
  CapabilityError,
  type QuotaLimits,
  type QuotaName,
  type QuotaPolicy,
} from '@ethosagent/types';
import { type CountedQuota, Meter } from './meter.js';
import type { Settle } from './store-meter.js';

const QUOTA_RULE = 'quota ';
const WHOSE = { per_call: 'this call', per_session: 'this session' } as const;

/** Caps, and the meter that counts for them. */
interface Level {
  readonly name: keyof typeof WHOSE;
  readonly caps: QuotaLimits;
  readonly meter: Meter;
}

/**
 * The caps of one call. Every method checks all caps and takes from all of them before it returns,
 * so that calls that run at the same time can't overspend.
 */
export class CallQuotas {
  readonly #levels: readonly Level[];
  /** Whether the bytes of its key-value entries are capped. */
  readonly capsStore: boolean;
  /** Whether its requests or their bytes are capped. */
  readonly capsNetwork: boolean;

  /** @param session the meter that the calls of the session share */
  constructor({ per_call = {}, per_session = {} }: QuotaPolicy, session: Meter) {
    this.#levels = [
      { name: 'per_call', caps: per_call, meter: new Meter() },
      { name: 'per_session', caps: per_session, meter: session },
    ];
    this.capsStore = this.#levels.some(({ caps }) => caps.store_bytes !== undefined);
    this.capsNetwork = this.#levels.some(
      ({ caps }) => (caps.requests ?? caps.bytes_in ?? caps.bytes_out) !== undefined,
    );
  }

  /** @throws `QUOTA_EXCEEDED`, and nothing is taken */
  spend(quota: CountedQuota, amount: number): void {
    this.spendAll({ [quota]: amount });
  }

  /** @throws `QUOTA_EXCEEDED`, and nothing of any quota is taken */
  spendAll(amounts: Partial<Record<CountedQuota, number>>): void {
    const spent = Object.entries(amounts) as [CountedQuota, number][];
    for (const [quota, amount] of spent) {
      if (!Number.isFinite(amount) || amount < 0) {
        throw new CapabilityError(
          'QUOTA_EXCEEDED',
          `${amount} is no amount of ${quota}; give a number of 0 or more`,
          `quota ${quota}: malformed amount`,
        );
      }
      for (const level of this.#levels) assertFits(level, quota, amount);
    }
    for (const { meter } of this.#levels) {
      for (const [quota, amount] of spent) meter.add(quota, amount);
    }
  }

  /**
   * Counts the time of one process until the returned function is called.
   *
   * @param onOver called once, if a quota is used up before that
   * @throws `QUOTA_EXCEEDED` when nothing is left
   */
  spendTime(onOver: (error: CapabilityError) => void): () => void {
    for (const level of this.#levels) {
      const { process_seconds: cap } = level.caps;
      if (cap !== undefined && !(level.meter.used('process_seconds') < cap)) throw timeIsUp(level);
    }
    let isOver = false;
    const stops = this.#levels.map((level) => {
      const { caps, meter } = level;
      const left = (caps.process_seconds ?? Infinity) - meter.usedElsewhere('process_seconds');
      return meter.time.start(left, () => {
        if (isOver) return;
        isOver = true;
        onOver(timeIsUp(level));
      });
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  /**
   * Takes room for an entry before it is written. The outcome of the write decides how much stays
   * taken.
   *
   * @param id of the namespace and the key
   * @param bytes of the key and the value; 0 for a removal
   * @throws `QUOTA_EXCEEDED`
   */
  spendStore(id: string, bytes: number): Settle {
    for (const level of this.#levels) {
      assertFits(level, 'store_bytes', level.meter.store.growth(id, bytes));
    }
    const settles = this.#levels.map(({ meter }) => meter.store.begin(id, bytes));
    return (wasWritten) => {
      for (const settle of settles) settle(wasWritten);
    };
  }
}

function assertFits(level: Level, quota: QuotaName, more: number): void {
  const cap = level.caps[quota];
  // With a cap that is not a number, nothing fits.
  if (cap === undefined || more === 0 || level.meter.used(quota) + more <= cap) return;
  throw exceeded(level, quota, `, and this needs ${more} more`);
}

function timeIsUp(level: Level): CapabilityError {
  return exceeded(level, 'process_seconds', '');
}

function exceeded({ name, caps, meter }: Level, quota: QuotaName, need: string): CapabilityError {
  const used = Math.round(meter.used(quota) * 1000) / 1000;
  return new CapabilityError(
    'QUOTA_EXCEEDED',
    `${WHOSE[name]} has used ${used} of ${caps[quota]} ${quota}${need}; use less, or ask the operator to raise safety.quotas.${name}.${quota}`,
    `${QUOTA_RULE}${name}.${quota}`,
  );
}

/** The cap that a rule names, such as `per_call.requests`. */
export function quotaOfRule(rule: string): string | undefined {
  return rule.startsWith(QUOTA_RULE) ? rule.slice(QUOTA_RULE.length) : undefined;
}
