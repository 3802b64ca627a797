import { describe } from 'vitest';
import { anyCallsTests } from './key-value/any-calls-tests.js';
import { compareAndSetTests } from './key-value/compare-and-set-tests.js';
import { incrementTests } from './key-value/increment-tests.js';
import { type KeyValueBackend, KeyValueWorld } from './key-value/key-value-world.js';
import { listTests } from './key-value/list-tests.js';
import { namespaceTests } from './key-value/namespace-tests.js';
import { readWriteTests } from './key-value/read-write-tests.js';
import { refusedInputTests } from './key-value/refused-input-tests.js';
import { timeToLiveTests } from './key-value/time-to-live-tests.js';

/**
 * Registers tests that a key-value backend keeps the contract of `KeyValueStore`: exact prefixes,
 * separate namespaces, times to live, and `increment` and `compareAndSet` if the backend has them.
 * Call it in a test file.
 *
 * @param name the name of the backend, for the names of the tests
 * @param create creates an empty backend that reads the time, in milliseconds, from `clock`
 */
export function keyValueConformance(
  name: string,
  create: (options: { clock: () => number }) => KeyValueBackend | Promise<KeyValueBackend>,
): void {
  describe(`${name} as a KeyValueStore`, () => {
    const world = new KeyValueWorld(create);
    readWriteTests(world);
    listTests(world);
    namespaceTests(world);
    timeToLiveTests(world);
    refusedInputTests(world);
    incrementTests(world);
    compareAndSetTests(world);
    anyCallsTests(world);
  });
}
