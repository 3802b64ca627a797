import { LONGEST_TIMER_MS } from '../timer.js';

/** Something that must not run past its deadline or the end of the turn. */
export interface Watched {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Called at most once, when the deadline or the abort comes first. */
  stop(why: 'timeout' | 'abort', reason?: unknown): void;
}

/** The deadlines and the abort signal of one batch, with one timer and one listener for all calls. */
export class Watch {
  readonly #watched = new Set<Watched>();
  readonly #signal: AbortSignal | undefined;
  #now: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
  }

  /** `performance.now()`, read once for all calls that begin together. */
  now(): number {
    if (this.#now === undefined) {
      this.#now = performance.now();
      queueMicrotask(() => {
        this.#now = undefined;
      });
    }
    return this.#now;
  }

  get aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  get reason(): unknown {
    return this.#signal?.reason;
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    if (watched.deadline < this.#timerDue) this.#arm(watched.deadline);
    if (this.aborted) watched.stop('abort', this.reason);
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  // Tools hold the signal too: an event that one of them made up is not an abort.
  readonly #onAbort = () => {
    if (!this.aborted) return;
    for (const watched of this.#watched) watched.stop('abort', this.reason);
  };

  #arm(due: number): void {
    clearTimeout(this.#timer);
    this.#timerDue = due;
    const delay = Math.max(0, Math.min(due - performance.now(), LONGEST_TIMER_MS));
    this.#timer = setTimeout(() => this.#expire(), delay);
  }

  #expire(): void {
    this.#timerDue = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const watched of this.#watched) {
      if (watched.deadline <= now) watched.stop('timeout');
      else next = Math.min(next, watched.deadline);
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next);
  }
}
