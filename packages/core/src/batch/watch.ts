import { LONGEST_TIMER_MS } from '../timer.js';

/** Something that must not run past its deadline or the end of the turn. */
export interface Watched {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Called at most once, when the deadline or the abort comes first. */
  stop(why: 'timeout' | 'abort', reason?: unknown): void;
}

/**
 * The deadlines and the abort signal of one batch, with one timer and one listener for all calls.
 *
 * A timer and a listener cost more than a short call. Both are set up once nothing is left to do but
 * to wait: neither could tell anything before that, and whoever ends until then asks `aborted`.
 */
export class Watch {
  readonly #watched = new Set<Watched>();
  readonly #signal: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #isSetUp = false;
  /** Why the signal can't be listened to. */
  #fault: { readonly error: unknown } | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  get aborted(): boolean {
    return this.#fault !== undefined || this.#signal?.aborted === true;
  }

  get reason(): unknown {
    return this.#fault === undefined ? this.#signal?.reason : this.#fault.error;
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    if (!this.#isSetUp) beforeWaiting(this);
    else if (watched.deadline < this.#timerDue) this.#arm(watched.deadline);
    if (this.aborted) watched.stop('abort', this.reason);
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
  }

  close(): void {
    aboutToWait.delete(this);
    if (!this.#isSetUp) return;
    clearTimeout(this.#timer);
    try {
      this.#signal?.removeEventListener('abort', this.#onAbort);
    } catch {
      // A signal of the host's own must not keep the batch from its answer.
    }
  }

  /** Listens to the signal, and sets the timer. What came before is made up for. */
  setUp(): void {
    if (this.#isSetUp) return;
    this.#isSetUp = true;
    try {
      this.#signal?.addEventListener('abort', this.#onAbort);
    } catch (error) {
      // A signal of the host's own that can't be listened to would let the calls run on.
      this.#fault = { error };
    }
    this.#onAbort();
    this.#expire();
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

/** That of the platform, also where a test of the host plays with the clock. */
const nextTick = process.nextTick.bind(process);

const aboutToWait = new Set<Watch>();
let isTickComing = false;

/** Sets a watch up after all promises that can settle have, unless it is closed by then. */
function beforeWaiting(watch: Watch): void {
  aboutToWait.add(watch);
  if (isTickComing) return;
  isTickComing = true;
  // A tick that is asked for from a promise comes when no promise is left to run.
  void Promise.resolve().then(() => nextTick(setUpAll));
}

function setUpAll(): void {
  isTickComing = false;
  for (const watch of aboutToWait) {
    aboutToWait.delete(watch);
    watch.setUp();
  }
}
