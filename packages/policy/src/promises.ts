/** A tool that forgets to await an access loses its outcome; the process must not end for it. */
export function unawaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Drops what foreign code returned where a promise has no place, with a rejection in it. */
export function discard(returned: unknown): void {
  if (isThenable(returned)) unawaited(Promise.resolve(returned));
}

/** Whether a value is a promise, or passes for one. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    value instanceof Promise ||
    (typeof value === 'object' &&
      value !== null &&
      'then' in value &&
      typeof value.then === 'function')
  );
}
