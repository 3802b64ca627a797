import { describe } from 'vitest';
import { appendTests } from './session/append-tests.js';
import { claimTests } from './session/claim-tests.js';
import { clockTests } from './session/clock-tests.js';
import { listTests } from './session/list-tests.js';
import { messagesTests } from './session/messages-tests.js';
import { ownerTests } from './session/owner-tests.js';
import { searchAnyQueryTests } from './session/search-any-query-tests.js';
import { searchLimitsTests } from './session/search-limits-tests.js';
import { searchOrderTests } from './session/search-order-tests.js';
import { searchWordsTests } from './session/search-words-tests.js';
import { type SessionsUnderTest, SessionWorld } from './session/session-world.js';

/**
 * Registers tests that a session store keeps the contract of `SessionStore`: messages in their
 * order, separate owners, and a search that finds messages with the words of a query and treats
 * every query as plain words. Call it in a test file.
 *
 * @param name the name of the store, for the names of the tests
 * @param create creates an empty store that reads the time, in milliseconds, from `clock`
 */
export function sessionConformance(
  name: string,
  create: (options: { clock: () => number }) => SessionsUnderTest | Promise<SessionsUnderTest>,
): void {
  describe(`${name} as a SessionStore`, () => {
    const world = new SessionWorld(create);
    claimTests(world);
    appendTests(world);
    messagesTests(world);
    listTests(world);
    ownerTests(world);
    describe('search', () => {
      searchWordsTests(world);
      searchOrderTests(world);
      searchLimitsTests(world);
      searchAnyQueryTests(world);
    });
    clockTests(world);
  });
}
