/** One at a time, in the order of asking. */
export class Turns {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** Whether somebody has, or waits for, a turn. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Runs the work when those before are done. Who gives up waiting is passed over. */
  async run<T>(race: <W>(waiting: Promise<W>) => Promise<W>, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let done = () => {};
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.#last = before.then(() => mine);
    this.#waiting += 1;
    try {
      await race(before);
      return await work();
    } finally {
      this.#waiting -= 1;
      done();
    }
  }
}
