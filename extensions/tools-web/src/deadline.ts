/** A signal that fires with another one, or when the time is up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time was up, and nothing else ended it. */
  readonly isOver: boolean;
  /** Lets go of the timer. */
  clear(): void;
}

/** @param timeoutMs milliseconds from now */
export function createDeadline(parent: AbortSignal, timeoutMs: number): Deadline {
  // `AbortSignal.any` of Node 20 may be collected, and lost, while somebody waits for it.
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = !controller.signal.aborted;
    controller.abort(new DOMException('the time is up', 'TimeoutError'));
  }, timeoutMs);
  const onAbort = () => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    clear() {
      clearTimeout(timer);
      parent.removeEventListener('abort', onAbort);
    },
  };
}
