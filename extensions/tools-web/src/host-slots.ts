/** How many requests may run to one host at a time. The others wait in order. */
export class HostSlots {
  readonly #limit: number;
  readonly #hosts = new Map<string, { running: number; waiting: Array<() => void> }>();

  /** @param limit requests to one host at a time */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs a request when there is a slot for its host.
   * @throws the reason of `signal` when it fires before that
   */
  async run<T>(host: string, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    await this.#acquire(host, signal);
    try {
      return await request();
    } finally {
      this.#release(host);
    }
  }

  async #acquire(host: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const slots = this.#hosts.get(host) ?? { running: 0, waiting: [] };
    this.#hosts.set(host, slots);
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

  #release(host: string): void {
    const slots = this.#hosts.get(host);
    if (slots === undefined) return;
    // Handed on, so that a newcomer can't take it in between.
    const next = slots.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    slots.running -= 1;
    if (slots.running === 0) this.#hosts.delete(host);
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
