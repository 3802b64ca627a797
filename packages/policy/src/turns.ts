interface Entry {
  readonly start: () => void;
  state: 'waiting' | 'in' | 'out';
}

interface Place {
  free: number;
  isAdmitting: boolean;
  readonly waiting: Set<Entry>;
}

/**
 * Limits how many tasks of one key run at once. The others wait, in the order in which they came.
 */
export class Turns {
  readonly #limit: number;
  readonly #places = new Map<string, Place>();

  /** @param limit tasks of one key that run at once */
  constructor(limit = 1) {
    this.#limit = limit;
  }

  /**
   * Calls `start` when there is room for the key. If there is room now, it is called before this
   * returns.
   *
   * @param key of what the tasks share
   * @param start is called once, and not after the place was given back
   * @returns a function that gives the place back, or stops waiting for it; a second call does
   * nothing
   */
  enter(key: string, start: () => void): () => void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = { free: this.#limit, isAdmitting: false, waiting: new Set() };
      this.#places.set(key, place);
    }
    const entry: Entry = { start, state: 'waiting' };
    place.waiting.add(entry);
    this.#admit(key, place);
    return () => this.#leave(key, place, entry);
  }

  /**
   * Runs a task when there is room for its key.
   *
   * @param key of what the tasks share
   * @param task runs once there is room, and gives its place back when it settles
   * @param signal ends the wait, but not the task
   * @returns the result of the task
   * @throws the reason of `signal` when it fires before the task has begun; what the task throws
   */
  async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    let leave = () => {};
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      // Added before the place is requested: if the place is free, `enter` removes the listener at
      // once.
      signal?.addEventListener('abort', abort, { once: true });
      leave = this.enter(key, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
    });
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /**
   * Whether a task has a place of the key, or waits for one.
   *
   * @param key of what the tasks share
   */
  isBusy(key: string): boolean {
    return this.#places.has(key);
  }

  #leave(key: string, place: Place, entry: Entry): void {
    const { state } = entry;
    entry.state = 'out';
    if (state === 'waiting') place.waiting.delete(entry);
    if (state !== 'in') return;
    place.free += 1;
    this.#admit(key, place);
  }

  // A task that ends at once gives its place back from within `start`. The loop that already runs
  // takes the next task: otherwise a long queue of such tasks would nest too deep.
  #admit(key: string, place: Place): void {
    if (place.isAdmitting) return;
    place.isAdmitting = true;
    try {
      while (place.free > 0) {
        const [next] = place.waiting;
        if (next === undefined) break;
        place.waiting.delete(next);
        place.free -= 1;
        next.state = 'in';
        next.start();
      }
    } finally {
      place.isAdmitting = false;
    }
    if (place.free === this.#limit && place.waiting.size === 0) this.#places.delete(key);
  }
}
