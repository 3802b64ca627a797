import { EthosError } from '@ethosagent/types';
import type { McpLimits } from './limits.js';

/**
 * Waits for work, but no longer than a limit.
 *
 * @throws `NETWORK_TIMEOUT` when the work takes too long, or when the signal fires
 */
export async function withDeadline<T>(
  work: Promise<T>,
  { connectTimeoutMs }: Pick<McpLimits, 'connectTimeoutMs'>,
  signal?: AbortSignal,
): Promise<T> {
  const ended = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new EthosError('NETWORK_TIMEOUT', `no answer within ${connectTimeoutMs / 1_000} s`));
    }, connectTimeoutMs);
    const closed = () => reject(new EthosError('NETWORK_TIMEOUT', 'it was closed'));
    if (signal?.aborted === true) closed();
    signal?.addEventListener('abort', closed, { signal: ended.signal });
    ended.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
  }
}

/**
 * Returns the result of the work; `'aborted'` when the signal fires first, or `'late'` when the
 * work takes longer than `timeoutMs` milliseconds.
 */
export function inTime<T>(
  work: Promise<T>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<T | 'aborted' | 'late'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve, reject) => {
    const abort = () => resolve('aborted');
    const timer = setTimeout(() => resolve('late'), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  });
}
