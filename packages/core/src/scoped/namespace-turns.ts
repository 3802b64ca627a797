import { Turns } from '@ethosagent/policy';
import type { AccessScope } from '../access.js';

/**
 * Lets calls use a namespace one at a time, first come, first served. So no other call can write
 * between a read and a write of the same call.
 */
export class NamespaceTurns {
  readonly #turns = new Turns();

  /**
   * Waits for the namespace, which is free again when the call ends. Resolves at once when no call
   * uses it.
   */
  acquire(namespace: string, scope: AccessScope): Promise<void> {
    return new Promise((resolve) => {
      const leave = this.#turns.enter(namespace, resolve);
      scope.onEnd(() => {
        leave();
        resolve();
      });
    });
  }
}

const turnsByFactory = new WeakMap<object, NamespaceTurns>();

/** The turns of everything that shares one store factory, in whichever registry. */
export function turnsOf(factory: object): NamespaceTurns {
  const turns = turnsByFactory.get(factory) ?? new NamespaceTurns();
  turnsByFactory.set(factory, turns);
  return turns;
}
