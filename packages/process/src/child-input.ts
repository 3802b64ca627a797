import type { Writable } from 'node:stream';
import { unawaited } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/**
 * The standard input of a child that takes input while it runs. Writes before the child has begun
 * wait: until then, the program that begins the child reads the pipe.
 */
export class ChildInput {
  readonly #pipe: Writable | null;
  readonly #name: string;
  /** The writes that wait for the beginning, in order. */
  #early: Array<() => void> | undefined = [];
  #hasEnded = false;
  #isClosed = false;

  /**
   * Delays writes until `begin`.
   *
   * @param pipe the standard input of the child; `null` if it has none
   * @param name the name of the child in errors
   */
  constructor(pipe: Writable | null, name: string) {
    this.#pipe = pipe;
    this.#name = name;
    // The child may have ended, or closed its input. That must not crash the host.
    pipe?.on('error', () => this.#close());
    pipe?.on('close', () => this.#close());
  }

  /**
   * Starts the writes that wait.
   *
   * @param first a text to write before them
   */
  begin(first?: string): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    if (first !== undefined) this.#pipe?.write(first);
    for (const run of early) run();
  }

  /**
   * Writes to the child, and resolves when there is room for more.
   *
   * @param data bytes, or a text, which is written as UTF-8
   * @throws `PROCESS_ENDED` if the child no longer reads its input, or `end` was called
   */
  write(data: string | Uint8Array): Promise<void> {
    return unawaited(this.#write(data));
  }

  /** Closes the input after the writes that wait. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#inOrder(() => this.#pipe?.end());
  }

  #write(data: string | Uint8Array): Promise<void> {
    // A copy: the caller may change its bytes while they wait to be written.
    const bytes = typeof data === 'string' ? data : Uint8Array.from(data);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error | null) => (error ? reject(this.#ended(error)) : resolve());
      if (this.#hasEnded) return settle(new Error('its input was ended'));
      this.#inOrder(() => {
        if (this.#pipe === null || this.#isClosed) return settle(new Error('its input is closed'));
        if (this.#pipe.write(bytes, settle)) resolve();
      });
    });
  }

  #inOrder(run: () => void): void {
    if (this.#early === undefined) run();
    else this.#early.push(run);
  }

  #close(): void {
    this.#isClosed = true;
    // The child may have ended before its input began. Then the waiting writes get an error.
    this.begin();
  }

  #ended(cause: Error): EthosError {
    return new EthosError('PROCESS_ENDED', `${this.#name} takes no more input; start it again`, {
      cause,
    });
  }
}
