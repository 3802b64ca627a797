import { describe } from 'vitest';
import type { CreateFetch } from './fetch/fetch-world.js';
import { honestRequests } from './fetch/honest-requests.js';
import { limitAttacks } from './fetch/limit-attacks.js';
import { redirectAttacks } from './fetch/redirect-attacks.js';
import { targetAttacks } from './fetch/target-attacks.js';

/**
 * Registers tests that attack a `ScopedFetch`: with every spelling and embedding of addresses that
 * no policy allows, with false answers of DNS, with redirects that lead out of the policy, with
 * floods, and with aborts. It also tests that requests within the policy get through. The servers
 * are real, on loopback. One of them counts forbidden connections. Call it in a test file.
 *
 * @param name the name of the implementation, for the names of the tests
 * @param create creates a `ScopedFetch` that enforces the given rules
 */
export function fetchAttacks(name: string, create: CreateFetch): void {
  describe(`${name} under attack by targets`, () => targetAttacks(create));
  describe(`${name} under attack by redirects`, () => redirectAttacks(create));
  describe(`${name} under attack by floods and aborts`, () => limitAttacks(create));
  describe(`${name} with honest requests`, () => honestRequests(create));
}
