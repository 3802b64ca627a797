import type { StorageScope } from '@ethosagent/types';

/** What the stores of a call or a service ask about text that an adversary may have written. */
export interface Taint {
  /** Whether what is written now may be such text. */
  taints(scope: StorageScope): boolean;
  /** Text was read that had been written with such text at hand. */
  noteRead(scope: StorageScope): void;
}

export interface CallTaintOptions {
  /** The session of the call has read such text. */
  session: boolean;
  /** The tool of the call returns such text. */
  output: boolean;
  /** Whether a service of the tool has read such text by now. */
  hasServiceRead: () => boolean;
}

/** Whether a call works with text that an adversary may have written. */
export class CallTaint implements Taint {
  readonly #options: CallTaintOptions;
  #hasRead = false;

  constructor(options: CallTaintOptions) {
    this.#options = options;
  }

  taints(scope: StorageScope): boolean {
    const { session, output } = this.#options;
    // Other tools read it too: what the tool's own results are marked by is not enough.
    const isShared = scope === 'personality';
    return session || this.hasRead || (isShared && output);
  }

  /** Whether it read text that an earlier call wrote with such text at hand. */
  get hasRead(): boolean {
    return this.#hasRead || this.#options.hasServiceRead();
  }

  noteRead(scope: StorageScope): void {
    // What a session knows to be tainted by may go on with notes of its own.
    if (scope === 'session' && this.#options.session) return;
    this.#hasRead = true;
  }
}
