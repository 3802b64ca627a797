/**
 * Keeps a rejection that nobody awaits from ending the process: a tool may forget to await an
 * access.
 *
 * @param promise the access
 * @returns the same promise, which still rejects for whoever awaits it
 */
export function unawaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/**
 * Drops a value that foreign code returned where no value is expected. If it is a promise, its
 * rejection is ignored.
 *
 * @param returned what the foreign function returned
 */
export function discard(returned: unknown): void {
  if (isThenable(returned)) unawaited(Promise.resolve(returned));
}

/**
 * Whether a value is a promise, or passes for one.
 *
 * @param value any value
 */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    value instanceof Promise ||
    (typeof value === 'object' &&
      value !== null &&
      'then' in value &&
      typeof value.then === 'function')
  );
}
