/** A call that waits for a place. */
export interface Waiting {
  /** Called once, when there is a place. */
  proceed(): void;
}

/**
 * Limits how many calls of a batch run at once. Calls that wait get a place in the order in which
 * they came.
 */
export class Slots {
  #free: number;
  readonly #waiting: Waiting[] = [];
  #next = 0;
  #isLettingIn = false;

  constructor(size: number) {
    this.#free = size;
  }

  /** Lets a call proceed, now or when a place is free. */
  enter(call: Waiting): void {
    // Nothing waits while a place is free.
    if (this.#isLettingIn || this.#free === 0) this.#waiting.push(call);
    else this.#letIn(call);
  }

  release(): void {
    this.#free++;
    if (!this.#isLettingIn) this.#letIn(this.#take());
  }

  // A call that ends at once gives its place back from within `proceed`. The loop that already runs
  // takes the next call: otherwise a long queue of such calls would nest too deep.
  #letIn(first: Waiting | undefined): void {
    this.#isLettingIn = true;
    try {
      for (let call = first; call !== undefined; call = this.#take()) {
        this.#free--;
        call.proceed();
      }
    } finally {
      this.#isLettingIn = false;
    }
  }

  /** The next call, if there is a place for it. */
  #take(): Waiting | undefined {
    if (this.#free === 0 || this.#next === this.#waiting.length) return undefined;
    return this.#waiting[this.#next++];
  }
}
