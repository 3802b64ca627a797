import type { Writable } from 'node:stream';
import { unawaited } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/**
 * The standard input of a child that is talked to. What is written before the child has begun
 * waits: until then, the other end is read by what begins it.
 */
export class ChildInput {
  readonly #pipe: Writable | null;
  readonly #name: string;
  /** What waits for the beginning, in order. */
  #early: Array<() => void> | undefined = [];
  #hasEnded = false;
  #isClosed = false;

  /**
   * Holds back writes until `begin`, so that the child gets its own input first.
   *
   * @param pipe the standard input of the child; `null` where it has none
   * @param name what the child is called in errors
   */
  constructor(pipe: Writable | null, name: string) {
    this.#pipe = pipe;
    this.#name = name;
    // The child may have ended, or closed its input. That must not crash the host.
    pipe?.on('error', () => this.#close());
    pipe?.on('close', () => this.#close());
  }

  /**
   * Lets the writes that wait go on.
   *
   * @param first is written before them
   */
  begin(first?: string): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    if (first !== undefined) this.#pipe?.write(first);
    for (const run of early) run();
  }

  /**
   * Resolves when there is room for more.
   *
   * @param data text is written as UTF-8
   * @throws `PROCESS_ENDED` when nobody reads it any more, or `end` was called
   */
  write(data: string | Uint8Array): Promise<void> {
    return unawaited(this.#write(data));
  }

  /** Nothing more will be written. */
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
