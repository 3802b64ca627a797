import { afterAll, beforeAll, describe } from 'vitest';
import type { KeyValueBackend } from '../kv-suite.js';
import { clockAttacks, type MovableClock } from './key-value/clock-attacks.js';
import { floodAttacks } from './key-value/flood-attacks.js';
import { namespaceAttacks } from './key-value/namespace-attacks.js';
import { type KeyValueProcesses, processAttacks } from './key-value/process-attacks.js';

/** What a key-value backend promises beside the contract, and so is held to. */
export interface KeyValueAttackOptions {
  /** Makes a store for several processes. Left out for one that a process has alone. */
  processes?: () => KeyValueProcesses;
}

/**
 * Attacks a key-value backend: scope ids, keys and prefixes that something might read as more than
 * text, clocks that jump, floods, and several processes, killed at work. Call it in a test file,
 * beside `keyValueConformance`, which has the contract itself.
 *
 * @param name of the backend, for the names of the tests
 * @param create makes an empty backend that takes the time, in milliseconds, from `clock`
 * @param options `processes`: how processes of their own open the same backend
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
