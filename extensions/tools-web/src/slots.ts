/** How much of one key, such as requests to a host, may run at a time. The rest waits in order. */
export class Slots {
  readonly #limit: number;
  readonly #slots = new Map<string, { running: number; waiting: Array<() => void> }>();

  /** @param limit tasks of one key at a time */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs a task when there is a slot for its key.
   * @throws the reason of `signal` when it fires before that
   */
  async run<T>(key: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#acquire(key, signal);
    try {
      return await task();
    } finally {
      this.#release(key);
    }
  }

  async #acquire(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const slots = this.#slots.get(key) ?? { running: 0, waiting: [] };
    this.#slots.set(key, slots);
    if (slots.running < this.#limit) {
      slots.running += 1;
      return;
    }
    const { promise, resolve, reject } = withResolvers();
    slots.waiting.push(resolve);
    const leave = () => {
      const at = slots.waiting.indexOf(resolve);
      // Not among the waiting: it has the slot, and gives it back itself.
      if (at < 0) return;
      slots.waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #release(key: string): void {
    const slots = this.#slots.get(key);
    if (slots === undefined) return;
    // Handed on, so that a newcomer can't take it in between.
    const next = slots.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    slots.running -= 1;
    if (slots.running === 0) this.#slots.delete(key);
  }
}

function withResolvers() {
  let resolve: () => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
