import { afterAll, beforeAll, describe } from 'vitest';
import type { KeyValueBackend } from '../key-value/key-value-world.js';
import { clockAttacks, type MovableClock } from './key-value/clock-attacks.js';
import { floodAttacks } from './key-value/flood-attacks.js';
import { namespaceAttacks } from './key-value/namespace-attacks.js';
import { type KeyValueProcesses, processAttacks } from './key-value/process-attacks.js';

/** The promises of a key-value backend beyond the contract. */
export interface KeyValueAttackOptions {
  /**
   * Creates a store that several processes use. Absent for a store that only one process may open.
   */
  processes?: () => KeyValueProcesses;
}

/**
 * Registers tests that attack a key-value backend: with scope ids, keys and prefixes that some
 * layer might not treat as plain text, with clocks that jump, with floods, and with several
 * processes that are killed while they write. Call it in a test file, beside `keyValueConformance`,
 * which tests the contract itself.
 *
 * @param name the name of the backend, for the names of the tests
 * @param create creates an empty backend that reads the time, in milliseconds, from `clock`
 * @param options `processes`: creates a store that several processes use
 */
export function keyValueAttacks(
  name: string,
  create: (options: { clock: () => number }) => KeyValueBackend | Promise<KeyValueBackend>,
  { processes }: KeyValueAttackOptions = {},
): void {
  describe(`${name} under attack`, () => {
    const clock: MovableClock = { now: 1_700_000_000_000 };
    let backend: KeyValueBackend;
    beforeAll(async () => {
      backend = await create({ clock: () => clock.now });
    });
    afterAll(async () => {
      await backend.close?.();
    });
    const fresh = (id: string) => backend.kvStoreFactory('attacks', id);
    namespaceAttacks(fresh);
    clockAttacks(fresh, clock);
    floodAttacks(fresh);
    if (processes !== undefined) processAttacks(processes);
  });
}
