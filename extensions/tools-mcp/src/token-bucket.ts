import { UNASKED_CHARS_AT_ONCE, UNASKED_CHARS_PER_SECOND } from './limits.js';

/** Allows bursts, and after them a steady rate. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  constructor(perSecond: number, burst: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#at = now();
  }

  /** Takes tokens. Returns how many milliseconds to wait for them. */
  take(count: number): number {
    const now = this.#now();
    const earned = ((now - this.#at) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned) - count;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1_000;
  }

  /** Takes tokens if there are enough. Returns whether there were. */
  tryTake(count: number): boolean {
    if (this.take(count) === 0) return true;
    this.give(count);
    return false;
  }

  /** Adds tokens to the steady rate: answers to our own requests are not a burst. */
  give(count: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + count);
  }
}

/** The bucket of a connection for the characters that nobody asked for. */
export function unaskedChars(): TokenBucket {
  return new TokenBucket(UNASKED_CHARS_PER_SECOND, UNASKED_CHARS_AT_ONCE);
}

/** Waits `ms` milliseconds, or until the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
