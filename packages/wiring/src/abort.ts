/** Rejects if the signal fires first. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () =>
      reject(
        new DOMException(
          'the turn was aborted before the call ran; call it again only if it is still wanted',
          'AbortError',
        ),
      );
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * A controller that a session's signal aborts until it is unlinked. The signal may outlive many
 * batches, so its listener must be removed.
 */
export function linkController(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return { controller, unlink: () => signal?.removeEventListener('abort', abort) };
}
