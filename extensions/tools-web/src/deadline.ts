/** A signal that fires when another one fires, or when the time is up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the signal fired because the time was up. */
  readonly isOver: boolean;
  /** Clears the timer. */
  clear(): void;
}

/** Creates a signal that fires with `parent`, or after `timeoutMs` milliseconds. */
export function createDeadline(parent: AbortSignal, timeoutMs: number): Deadline {
  // In Node 20, the signal of `AbortSignal.any` may be garbage-collected while somebody waits for it.
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
