/** Whether a call works with text that an adversary may have written. */
export class CallTaint {
  readonly #session: boolean;
  readonly #output: boolean;
  #hasRead = false;

  /**
   * @param session the session of the call has read such text
   * @param output the tool of the call returns such text
   */
  constructor(session: boolean, output: boolean) {
    this.#session = session;
    this.#output = output;
  }

  /**
   * Whether what the call writes may be such text.
   *
   * @param isShared other tools read it too: what the tool's own results are marked by is not enough
   */
  taints(isShared: boolean): boolean {
    return this.#session || this.#hasRead || (isShared && this.#output);
  }

  /** Whether it read text that an earlier call wrote with such text at hand. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  noteRead(): void {
    this.#hasRead = true;
  }
}
