/**
 * Sends a request that ends with a signal. The SDK never removes its listener from the signal that
 * it gets. On a signal that lives longer, the listener would tell the server to cancel requests
 * that were answered long ago.
 */
export async function withOwnSignal<T>(
  signal: AbortSignal,
  send: (own: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const onAbort = () => own.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await send(own.signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
