/**
 * Closes resources in the order in which they were opened. If one fails, the others are closed all
 * the same.
 */
export class OpenedResources {
  #closers: Array<() => void | Promise<void>> = [];

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** @throws the first error, after all were tried */
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
