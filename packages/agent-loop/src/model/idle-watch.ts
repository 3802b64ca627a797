import { ModelFailure } from './model-error.js';

/**
 * Waits for one part after another, for each at most `idleMs`, and not after the signal fired. An
 * answer has thousands of parts, so they share one timer and one listener.
 */
export class IdleWatch {
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** Rejects the current wait. Does nothing between two waits. */
  #stop: (reason: unknown) => void = () => {};
  readonly #abort = () => this.#stop(this.#signal.reason);

  constructor(idleMs: number, signal: AbortSignal) {
    this.#signal = signal;
    this.#timer = setTimeout(() => {
      const text = `the model was silent for ${Math.round(idleMs / 1_000)} s`;
      this.#stop(new ModelFailure(text, { isRetryable: true }));
    }, idleMs);
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** @throws `ModelFailure` after `idleMs`; the reason of the signal when it fires */
  wait<T>(next: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      next.then(resolve, reject);
      if (this.#signal.aborted) this.#abort();
      // It may have fired while the last part was read. This starts it again.
      this.#timer.refresh();
    });
  }

  /** Stops the clock and the listening. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#abort);
  }
}
