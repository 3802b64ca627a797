import type { AccessScope } from '../access.js';

/**
 * Lets calls have a namespace one at a time, first come, first served. A call that reads a value
 * and then writes another has nobody in between.
 */
export class NamespaceTurns {
  readonly #waiting = new Map<string, Array<() => void>>();

  /** Waits for the namespace; the call's end gives it back. Resolves at once when nobody has it. */
  acquire(namespace: string, scope: AccessScope): Promise<void> {
    const queue = this.#waiting.get(namespace);
    if (queue === undefined) {
      this.#waiting.set(namespace, []);
      scope.onEnd(() => this.#release(namespace));
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      let mine = false;
      const takeTurn = () => {
        mine = true;
        resolve();
      };
      queue.push(takeTurn);
      scope.onEnd(() => {
        if (mine) return this.#release(namespace);
        const place = queue.indexOf(takeTurn);
        if (place >= 0) queue.splice(place, 1);
        resolve();
      });
    });
  }

  #release(namespace: string): void {
    const next = this.#waiting.get(namespace)?.shift();
    if (next === undefined) this.#waiting.delete(namespace);
    else next();
  }
}

const turnsByFactory = new WeakMap<object, NamespaceTurns>();

/** The turns of everything that shares one store factory, whichever registry it belongs to. */
export function turnsOf(factory: object): NamespaceTurns {
  const turns = turnsByFactory.get(factory) ?? new NamespaceTurns();
  turnsByFactory.set(factory, turns);
  return turns;
}
