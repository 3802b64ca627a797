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
    this.#waiting.push(call);
    this.#letIn();
  }

  release(): void {
    this.#free++;
    this.#letIn();
  }

  // A call that ends at once gives its place back from within `proceed`. The loop that already runs
  // takes the next call: otherwise a long queue of such calls would nest too deep.
  #letIn(): void {
    if (this.#isLettingIn) return;
    this.#isLettingIn = true;
    try {
      for (let call = this.#waiting[this.#next]; call !== undefined && this.#free > 0; ) {
        this.#next++;
        this.#free--;
        call.proceed();
        call = this.#waiting[this.#next];
      }
    } finally {
      this.#isLettingIn = false;
    }
  }
}
