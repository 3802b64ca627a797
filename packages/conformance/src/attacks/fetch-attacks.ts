import { describe } from 'vitest';
import type { CreateFetch } from './fetch/fetch-world.js';
import { honestRequests } from './fetch/honest-requests.js';
import { limitAttacks } from './fetch/limit-attacks.js';
import { redirectAttacks } from './fetch/redirect-attacks.js';
import { targetAttacks } from './fetch/target-attacks.js';

/**
 * Attacks a `ScopedFetch`: every spelling and embedding of addresses that no policy allows, DNS that
 * lies, redirects that lead astray, floods, and aborts; and that what a policy allows gets through.
 * The servers are real, on loopback, and one of them counts the connections that nobody should
 * make. Call it in a test file.
 *
 * @param name of the implementation, for the names of the tests
 * @param create makes a fetch that is held to the rules it is given
 */
export function fetchAttacks(name: string, create: CreateFetch): void {
  describe(`${name} under attack by targets`, () => targetAttacks(create));
  describe(`${name} under attack by redirects`, () => redirectAttacks(create));
  describe(`${name} under attack by floods and aborts`, () => limitAttacks(create));
  describe(`${name} with honest requests`, () => honestRequests(create));
}
