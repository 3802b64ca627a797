import { describe } from 'vitest';
import type { CreateRegistry } from './registry/batch.js';
import { handleAttacks } from './secret/handle-attacks.js';
import { leakAttacks } from './secret/leak-attacks.js';
import { refAttacks } from './secret/ref-attacks.js';

/**
 * Attacks the secrets of a registry: refs that were not declared, values that a tool leaks in
 * whatever form at whatever place, and handles that are sent where they may not go or echoed by a
 * server. Call it in a test file.
 *
 * @param name of the implementation, for the names of the tests
 * @param create makes an empty registry over the backends it is given
 */
export function secretAttacks(name: string, create: CreateRegistry): void {
  describe(`${name} under attack by refs`, () => refAttacks(create));
  describe(`${name} under attack by leaks`, () => leakAttacks(create));
  describe(`${name} under attack through handles`, () => handleAttacks(create));
}
