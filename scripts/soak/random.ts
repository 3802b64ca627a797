import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Choices that a seed repeats, as far as the timing of the rest allows. */
export class Random {
  readonly #generator: ReturnType<typeof xoroshiro128plus>;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return uniformInt(this.#generator, low, high);
  }

  /** True once in so many times. */
  oneIn(count: number): boolean {
    return this.between(1, count) === 1;
  }

  /** One of `items`. @throws `RangeError` when there are none */
  pick<T>(items: readonly T[]): T {
    const index = this.between(0, items.length - 1);
    for (const item of items.slice(index)) return item;
    throw new RangeError('there is nothing to pick from');
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
