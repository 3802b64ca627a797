import { countTries, runTimeoutMs, tries } from '@ethosagent/test-support';
import { it } from 'vitest';
import type { Promised } from './promised.js';

/**
 * The sizes of inputs. Each is eight times the one before. Eight times the cost is linear, 64 times
 * is quadratic.
 */
const SIZES = [2_000, 16_000, 128_000, 1_024_000];
const TOO_STEEP = 24;
const MOST_RUNS = 10;
/** The microseconds of processor time that are never a problem. */
const HARMLESS = 200_000;

/** The largest input for the measurement of a function's cost, and the promise that it tests. */
export interface GrowthOptions {
  /** The promise that the test belongs to. `fuzz` when absent. */
  promised?: Promised;
  /**
   * The largest size in a check, in a nightly run (ten times that of a check when absent) and in a
   * full one, in the unit of `inputOf`. 64,000 and 1,024,000 when absent.
   */
  upTo?: { check: number; nightly?: number; long: number };
}

/**
 * Registers a test that a function takes at most linear time. Eight times the input may cost 24
 * times the CPU time, and a run below 200 ms always passes. The test takes the best CPU time of
 * up to ten runs, so that it does not fail on a busy machine.
 *
 * @param name the name of the test
 * @param inputOf makes a hostile input of about `size` characters, bytes or items; its time is not
 * measured
 * @param run the function to measure
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
        // The first measurement may include the compiler, others a busy machine.
        for (let runs = 1; runs < MOST_RUNS && isTooMuch(cost, last); runs += 1) {
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
