/** Something that waits for a place. */
export interface Waiting {
  /** Called once, when there is one. */
  proceed(): void;
}

/** How many calls of a batch may run at once. Those that wait go in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: Waiting[] = [];
  #next = 0;

  constructor(size: number) {
    this.#free = size;
  }

  /** Lets a call proceed, now or when a place is free. */
  enter(call: Waiting): void {
    if (this.#free === 0) {
      this.#waiting.push(call);
      return;
    }
    this.#free--;
    call.proceed();
  }

  /** Gives a place back. */
  release(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#next++;
    // Not from within the call that ends: a long queue of calls that answer at once would nest.
    queueMicrotask(() => next.proceed());
  }
}
