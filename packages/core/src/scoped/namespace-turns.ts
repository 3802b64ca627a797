import { Turns } from '@ethosagent/policy';
import type { AccessScope } from '../access.js';

/**
 * Lets calls have a namespace one at a time, first come, first served. A call that reads a value
 * and then writes another has nobody in between.
 */
export class NamespaceTurns {
  readonly #turns = new Turns();

  /** Waits for the namespace; the call's end gives it back. Resolves at once when nobody has it. */
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

/** The turns of everything that shares one store factory, whichever registry it belongs to. */
export function turnsOf(factory: object): NamespaceTurns {
  const turns = turnsByFactory.get(factory) ?? new NamespaceTurns();
  turnsByFactory.set(factory, turns);
  return turns;
}
