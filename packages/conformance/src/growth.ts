import { countTries, runTimeoutMs, tries } from '@ethosagent/test-support';
import { it } from 'vitest';
import type { Promised } from './promised.js';

/**
 * Each size is eight times the one before. Eight times the cost is linear, 64 times is quadratic.
 */
const SIZES = [2_000, 16_000, 128_000, 1_024_000];
const TOO_STEEP = 24;
/** This many microseconds of processor time are never a problem. */
const HARMLESS = 200_000;

/** How the growth of a function's cost is measured. */
export interface GrowthOptions {
  /** Which promise it belongs to. `fuzz` when absent. */
  promised?: Promised;
  /** The largest size, in a check and in a full run. 64,000 and 1,024,000 when absent. */
  upTo?: { check: number; long: number };
}

/**
 * Registers a test that a function takes at most linear time: eightfold input may cost 24 times the
 * CPU time, and everything below 200 ms passes. It measures CPU time, and takes the best of three,
 * so that a busy machine doesn't fail it.
 *
 * @param name of the test
 * @param inputOf makes a hostile input of about `size` characters, bytes or items; not measured
 * @param run the function
 * @param options the largest input
 */
// biome-ignore lint/complexity/useMaxParams: a documented signature
export function growsLinearly<T>(
  name: string,
  inputOf: (size: number) => T,
  run: (input: T) => unknown,
  { promised = 'fuzz', upTo = { check: 64_000, long: 1_024_000 } }: GrowthOptions = {},
): void {
  it(
    name,
    async (context) => {
      const sizes = SIZES.filter((size) => size <= tries(upTo));
      let last = Number.POSITIVE_INFINITY;
      for (const size of sizes) {
        const input = inputOf(size);
        let cost = await cpuTime(input, run);
        // The first measurement may include the compiler, the second one a busy machine.
        for (let again = 0; again < 2 && isTooMuch(cost, last); again += 1) {
          cost = Math.min(cost, await cpuTime(input, run));
        }
        if (isTooMuch(cost, last)) {
          throw new Error(
            `size ${size} took ${(cost / 1000).toFixed(1)} ms, an eighth of it ${(last / 1000).toFixed(1)} ms`,
          );
        }
        last = cost;
      }
      countTries(context, promised, sizes.length);
    },
    runTimeoutMs(),
  );
}

function isTooMuch(cost: number, last: number): boolean {
  return cost > HARMLESS && cost > last * TOO_STEEP;
}

async function cpuTime<T>(input: T, run: (input: T) => unknown): Promise<number> {
  const before = process.cpuUsage();
  try {
    await run(input);
  } catch {
    // A refusal counts as an answer. Only its cost matters.
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
