import { describe } from 'vitest';
import type { CreateRegistry } from './registry/batch.js';
import { handleAttacks } from './secret/handle-attacks.js';
import { leakAttacks } from './secret/leak-attacks.js';
import { refAttacks } from './secret/ref-attacks.js';

/**
 * Registers tests that attack the secrets of a registry: with refs that were not declared, with
 * values that a tool leaks in any form and at any place, and with handles that are sent to a wrong
 * place or sent back by a server. Call it in a test file.
 *
 * @param name the name of the implementation, for the names of the tests
 * @param create creates an empty registry with the given backends
 */
export function secretAttacks(name: string, create: CreateRegistry): void {
  describe(`${name} under attack by refs`, () => refAttacks(create));
  describe(`${name} under attack by leaks`, () => leakAttacks(create));
  describe(`${name} under attack through handles`, () => handleAttacks(create));
}
