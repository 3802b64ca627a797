import { describe } from 'vitest';
import type { CreateRegistry } from './registry/batch.js';
import { crossingAttacks } from './registry/crossing.js';
import { hostileCallAttacks } from './registry/hostile-calls.js';
import { hostileLoadAttacks } from './registry/hostile-loads.js';
import { lifecycleAttacks } from './registry/lifecycle.js';
import { hostileToolAttacks } from './registry/one-hostile-tool.js';

/**
 * Registers tests that no batch of a `ToolRegistry` throws, hangs or mixes with another one. They
 * attack it with hostile results and errors, tampering, names, arguments, budgets, aborts,
 * approvals, floods, and many batches of many sessions at once. Call it in a test file.
 *
 * @param name the name of the implementation, for the names of the tests
 * @param create creates an empty registry that may run 32 calls of a batch at once
 */
export function registryAttacks(name: string, create: CreateRegistry): void {
  describe(`${name}, attacked`, () => {
    hostileToolAttacks(create);
    hostileCallAttacks(create);
    hostileLoadAttacks(create);
    lifecycleAttacks(create);
    crossingAttacks(create);
  });
}
