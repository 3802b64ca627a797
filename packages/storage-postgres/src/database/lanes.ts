/**
 * Writes with the same name run one after another, in order. Writes with different names run at the
 * same time. A read waits for the earlier writes.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a write after the earlier ones with its name. */
  write<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const result = before === undefined ? work() : before.then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return result;
  }

  /** Waits for the writes with a name; without a name, for all writes. */
  async settled(name?: string): Promise<void> {
    await (name === undefined ? Promise.all([...this.#last.values()]) : this.#last.get(name));
  }
}
