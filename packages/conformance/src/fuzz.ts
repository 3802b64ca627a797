import { countTries, isLongRun, runTimeoutMs, seedOfRun, tries } from '@ethosagent/test-support';
import fc from 'fast-check';
import { it } from 'vitest';
import type { Promised } from './promised.js';

/** The number of tries of a property, and inputs that are always tried. */
export interface FuzzOptions<T> {
  /** The promise that the property belongs to. `fuzz` when absent. */
  promised?: Promised;
  /**
   * The number of generated inputs in a check, in a nightly run (ten times as many as in a check when
   * absent) and in a full one. 20 and 30,000 when absent.
   */
  runs?: { check: number; nightly?: number; long: number };
  /** Inputs to try every time, such as those that once broke the property. */
  corpus?: readonly T[];
}

/**
 * Registers a test that tries a property on generated inputs. The reporter prints the seed of the
 * run; `ETHOS_SEED=<seed>` repeats it.
 *
 * @param name the name of the test
 * @param arbitrary generates the inputs
 * @param holds throws or returns `false` if the property does not hold for an input
 * @param options the number of tries, and inputs that are always tried
 */
// biome-ignore lint/complexity/useMaxParams: a documented signature
export function fuzz<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  holds: (input: T) => unknown,
  {
    promised = 'fuzz',
    runs = { check: 20, long: 30_000 },
    corpus = [],
  }: FuzzOptions<NoInfer<T>> = {},
): void {
  const seed = seedOfRun();
  it(
    name,
    async (context) => {
      const numRuns = tries(runs);
      await fc.assert(
        fc.asyncProperty(arbitrary, async (input) => (await holds(input)) !== false),
        {
          seed,
          numRuns,
          examples: corpus.map((input) => [input]),
          endOnFailure: isLongRun(),
        },
      );
      countTries(context, promised, numRuns);
    },
    runTimeoutMs(),
  );
}
