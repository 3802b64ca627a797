import { setMaxListeners } from 'node:events';
import { MAX_TIMER_MS } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** Removes a listener from a signal after its request was garbage collected. */
const abandoned = new FinalizationRegistry<() => void>((unfollow) => unfollow());

/** Ends a request early: at its deadline, when the caller aborts, or when a limit is exceeded. */
export class RequestLifetime {
  #listeners: ((reason: unknown) => void)[] = [];
  #reason: unknown;
  #failed = false;
  #reject: ((reason: unknown) => void) | undefined;
  readonly #failure: Promise<never>;
  readonly #timeoutMs: number;
  readonly #late: string;
  #timer: NodeJS.Timeout | undefined;
  #isIdleTimer = false;
  #isComplete = false;
  #isReading = false;
  readonly #unfollow: (() => void)[] = [];

  /**
   * Starts the deadline.
   * @param timeoutMs milliseconds until the deadline
   * @param signals the caller's signals; their reasons become the error
   * @param late what the error at the deadline says
   */
  constructor(
    timeoutMs: number,
    signals: readonly (AbortSignal | null | undefined)[],
    late = `no complete answer within ${timeoutMs} ms`,
  ) {
    this.#failure = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#failure.catch(() => {});
    this.#timeoutMs = timeoutMs;
    this.#late = late;
    for (const signal of signals) this.follow(signal);
    if (!this.#failed) this.#startDeadline();
  }

  /** Ends the request with a signal, too. */
  follow(signal: AbortSignal | null | undefined): void {
    if (signal === null || signal === undefined) return;
    if (signal.aborted) {
      this.fail(signal.reason);
      return;
    }
    // Refers weakly to the request, because a signal may outlive thousands of them. Node would warn
    // of a leak from the eleventh listener on.
    setMaxListeners(Number.POSITIVE_INFINITY, signal);
    const self = new WeakRef(this);
    const listener = () => self.deref()?.fail(signal.reason);
    signal.addEventListener('abort', listener, { once: true });
    const unfollow = () => signal.removeEventListener('abort', listener);
    this.#unfollow.push(unfollow);
    abandoned.register(this, unfollow, this);
  }

  /** Replaces the deadline: from now on the request ends when nothing arrives for this long. */
  waitWhileBytesCome(idleMs: number): void {
    if (this.#failed || this.#isComplete) return;
    this.#isIdleTimer = true;
    this.#startTimer(idleMs, `nothing came for ${idleMs} ms`);
  }

  /** Called when bytes have arrived. */
  notIdle(): void {
    if (this.#isIdleTimer) this.#timer?.refresh();
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Removes the listeners of the last hop. */
  nextHop(): void {
    this.#listeners = [];
  }

  /** Calls the listener when the request ends with an error. */
  onFailure(listener: (reason: unknown) => void): void {
    if (this.#failed) listener(this.#reason);
    else this.#listeners.push(listener);
  }

  /** Ends the request with an error. Only the first call counts. */
  fail(reason: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#reason = reason;
    this.release();
    for (const listener of this.#listeners) listener(reason);
    this.#reject?.(reason);
  }

  throwIfFailed(): void {
    if (this.#failed) throw this.#reason;
  }

  /**
   * Returns the value of the promise, or rejects if the request ends before that: not every `fetch`
   * follows a signal.
   */
  race<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#failure]);
  }

  /**
   * Returns the value of a read, which has a deadline even after all has arrived: some versions of
   * `fetch` wait for ever for a body that can't be decoded.
   */
  async read<T>(reading: Promise<T>): Promise<T> {
    if (this.#isComplete && !this.#failed) this.#startDeadline();
    this.#isReading = true;
    try {
      return await this.race(reading);
    } finally {
      this.#isReading = false;
      if (this.#isComplete) this.#stopTimer();
    }
  }

  /** Removes the deadline, when all has arrived. An abort still makes an unread body fail. */
  complete(): void {
    this.#isComplete = true;
    if (!this.#isReading) this.#stopTimer();
  }

  /** Lets nothing end the request any more, when all was read or nobody will read it. */
  release(): void {
    this.#isComplete = true;
    this.#stopTimer();
    if (this.#unfollow.length === 0) return;
    abandoned.unregister(this);
    for (const unfollow of this.#unfollow.splice(0)) unfollow();
  }

  #startDeadline(): void {
    this.#startTimer(this.#timeoutMs, this.#late);
  }

  #startTimer(ms: number, what: string): void {
    clearTimeout(this.#timer);
    const onTime = () => this.fail(new EthosError('NETWORK_TIMEOUT', what));
    this.#timer = setTimeout(onTime, Math.min(ms, MAX_TIMER_MS));
    this.#timer.unref();
  }

  // `refresh` would start a cleared timer again, so `#isIdleTimer` is reset too.
  #stopTimer(): void {
    this.#isIdleTimer = false;
    clearTimeout(this.#timer);
  }
}
