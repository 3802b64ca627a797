import { describe } from 'vitest';
import type { CreateRegistry } from './registry/batch.js';
import { crossingAttacks } from './registry/crossing.js';
import { hostileCallAttacks } from './registry/hostile-calls.js';
import { hostileLoadAttacks } from './registry/hostile-loads.js';
import { lifecycleAttacks } from './registry/lifecycle.js';
import { hostileToolAttacks } from './registry/one-hostile-tool.js';

/**
 * Tests that no tool, call or moment makes a batch of a `ToolRegistry` throw, hang or mix with
 * another: hostile results and errors, tampering, names, arguments, budgets, aborts, approvals,
 * floods, and many batches of many sessions at once. To be called at the top of a vitest file.
 *
 * @param name of the implementation, for the test names
 * @param create makes an empty registry; 32 calls of a batch may run at once
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
