/**
 * Writes of one name go one after the other, in the order in which they were asked for; those of others
 * go beside them. Reads wait for the writes that were asked for before.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a write after those of its name. */
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

  /** Waits for the writes of a name; of all names when there is none. */
  async settled(name?: string): Promise<void> {
    await (name === undefined ? Promise.all([...this.#last.values()]) : this.#last.get(name));
  }
}
