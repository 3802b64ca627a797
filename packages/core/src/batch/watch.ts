import { MAX_TIMER_MS } from '@ethosagent/policy';

/** Something that must end at its deadline or when the turn is aborted. */
export interface Watched {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Its neighbours in the list of what is watched. They belong to `Watch`. */
  before: Watched | undefined;
  after: Watched | undefined;
  /** Called at most once, if the deadline or the abort comes before the end. */
  stop(why: 'timeout' | 'abort', reason?: unknown): void;
}

/**
 * The deadlines and the abort signal of one batch, with one timer and one listener for all calls.
 *
 * A timer and a listener cost more than a short call, so both are set up only once there is nothing
 * left to do except to wait. Nothing is missed: neither a timer nor an event can fire while code
 * runs, and a call that ends before then asks `aborted`.
 */
export class Watch {
  // A list of links: to add to a set and to remove from it takes a tenth of a short call.
  #first: Watched | undefined;
  #last: Watched | undefined;
  readonly #signal: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #isSetUp = false;
  #isAboutToWait = false;
  /** The error of a signal that can't be listened to. */
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
    if (this.aborted) {
      watched.stop('abort', this.reason);
      return;
    }
    watched.before = this.#last;
    if (this.#last === undefined) this.#first = watched;
    else this.#last.after = watched;
    this.#last = watched;
    if (this.#isSetUp) {
      if (watched.deadline < this.#timerDue) this.#arm(watched.deadline);
    } else if (!this.#isAboutToWait) {
      this.#isAboutToWait = true;
      beforeWaiting(this);
    }
  }

  /** Does nothing for what is not watched. */
  remove(watched: Watched): void {
    const { before, after } = watched;
    if (!this.#holds(watched)) return;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    watched.before = undefined;
    watched.after = undefined;
  }

  close(): void {
    aboutToWait.delete(this);
    if (!this.#isSetUp) return;
    clearTimeout(this.#timer);
    try {
      this.#signal?.removeEventListener('abort', this.#onAbort);
    } catch {
      // A signal that the host wrote may throw here. The batch must answer all the same.
    }
  }

  /** Listens to the signal and sets the timer. Handles an abort and deadlines that came before. */
  setUp(): void {
    if (this.#isSetUp) return;
    this.#isSetUp = true;
    try {
      this.#signal?.addEventListener('abort', this.#onAbort);
    } catch (error) {
      // The calls must not run on when the host's signal can't be listened to, so this counts as an
      // abort.
      this.#fault = { error };
    }
    this.#onAbort();
    this.#expire();
  }

  // Tools hold the signal too, and may dispatch an `abort` event themselves. That is not an abort.
  readonly #onAbort = () => {
    if (!this.aborted) return;
    for (let watched = this.#first; watched !== undefined; watched = this.#first) {
      this.remove(watched);
      watched.stop('abort', this.reason);
    }
  };

  #arm(due: number): void {
    clearTimeout(this.#timer);
    this.#timerDue = due;
    const delay = Math.max(0, Math.min(due - performance.now(), MAX_TIMER_MS));
    this.#timer = setTimeout(() => this.#expire(), delay);
  }

  #expire(): void {
    this.#timerDue = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const watched of this.#all()) {
      if (watched.deadline > now || !this.#holds(watched)) continue;
      this.remove(watched);
      watched.stop('timeout');
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { deadline } of this.#all()) next = Math.min(next, deadline);
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next);
  }

  #holds(watched: Watched): boolean {
    return watched.before !== undefined || this.#first === watched;
  }

  #all(): Watched[] {
    const all: Watched[] = [];
    for (let watched = this.#first; watched !== undefined; watched = watched.after) {
      all.push(watched);
    }
    return all;
  }
}

/** The platform's own, taken before a test of the host can replace it by a fake clock. */
const nextTick = process.nextTick.bind(process);

const aboutToWait = new Set<Watch>();
let isTickComing = false;

/**
 * Sets the watch up after all promises that can settle have settled, unless it was closed before.
 */
function beforeWaiting(watch: Watch): void {
  aboutToWait.add(watch);
  if (isTickComing) return;
  isTickComing = true;
  // A `nextTick` that is requested from a promise runs when the queue of promises is empty.
  void Promise.resolve().then(() => nextTick(setUpAll));
}

function setUpAll(): void {
  isTickComing = false;
  for (const watch of aboutToWait) {
    aboutToWait.delete(watch);
    watch.setUp();
  }
}
