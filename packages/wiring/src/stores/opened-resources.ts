/** Closes in the order in which things were opened. A failure of one keeps none of the others open. */
export class OpenedResources {
  #closers: Array<() => void | Promise<void>> = [];

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** @throws what the first one that failed threw, once all were tried */
  async close(): Promise<void> {
    const closers = this.#closers;
    this.#closers = [];
    const failures: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
