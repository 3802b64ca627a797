import { describe } from 'vitest';
import { anyChangeTests } from './memory/any-change-tests.js';
import { changeTests } from './memory/change-tests.js';
import { type MemoryUnderTest, MemoryWorld } from './memory/memory-world.js';
import { revisionTests } from './memory/revision-tests.js';
import { scopeTests } from './memory/scope-tests.js';
import { searchTests } from './memory/search-tests.js';

/**
 * Registers tests that a memory provider keeps the contract of `MemoryProvider`: changes of all
 * kinds, refusals that change nothing, versions, revisions, separate scopes and searches. Call it
 * in a test file.
 *
 * @param name the name of the provider, for the names of the tests
 * @param create creates an empty provider that reads the time, in milliseconds, from `clock`
 */
export function memoryConformance(
  name: string,
  create: (options: { clock: () => number }) => MemoryUnderTest | Promise<MemoryUnderTest>,
): void {
  describe(`${name} as a MemoryProvider`, () => {
    const world = new MemoryWorld(create);
    changeTests(world);
    revisionTests(world);
    scopeTests(world);
    searchTests(world);
    anyChangeTests(world);
  });
}
