/** The time of a call. It ends when the caller cancels, when it is up, or when the browser ends. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal fired. */
  readonly ended: 'cancelled' | 'out of time' | 'browser gone' | 'interrupted' | undefined;
  readonly totalMs: number;
  /** Returns the milliseconds that are left, at least 1. */
  leftMs(): number;
  /** Settles like `work`, or rejects when the time is over. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Waits this many milliseconds. It rejects when the time of the call is over. */
  sleep(ms: number): Promise<void>;
  /** Ends the time at once. The rest of the call is not done. */
  interrupt(): void;
  clear(): void;
}

export function createDeadline(
  totalMs: number,
  cancelled: AbortSignal,
  browserGone: AbortSignal,
): Deadline {
  const control = new AbortController();
  const end = Date.now() + totalMs;
  let ended: Deadline['ended'];
  const finish = (why: Deadline['ended'] & string, reason: unknown) => {
    ended ??= why;
    control.abort(reason);
  };
  const timer = setTimeout(
    () => finish('out of time', new DOMException('The time is up', 'TimeoutError')),
    totalMs,
  );
  const onCancel = () => finish('cancelled', cancelled.reason);
  const onGone = () => finish('browser gone', browserGone.reason);
  cancelled.addEventListener('abort', onCancel, { once: true });
  browserGone.addEventListener('abort', onGone, { once: true });
  if (cancelled.aborted) onCancel();
  else if (browserGone.aborted) onGone();

  const race = <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const { signal } = control;
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      work
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', onAbort))
        .catch(() => {});
    });
  return {
    signal: control.signal,
    get ended() {
      return ended;
    },
    totalMs,
    leftMs: () => Math.max(1, end - Date.now()),
    race,
    async sleep(ms) {
      let waiting: NodeJS.Timeout | undefined;
      try {
        await race(
          new Promise<void>((resolve) => {
            waiting = setTimeout(resolve, ms);
          }),
        );
      } finally {
        clearTimeout(waiting);
      }
    },
    interrupt() {
      finish('interrupted', new DOMException('The call was interrupted', 'AbortError'));
    },
    clear() {
      clearTimeout(timer);
      cancelled.removeEventListener('abort', onCancel);
      browserGone.removeEventListener('abort', onGone);
    },
  };
}
