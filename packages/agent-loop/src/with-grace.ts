import { EthosError } from '@ethosagent/types';

/**
 * Waits for an answer, but not forever: `graceMs` milliseconds after the signal has fired, it
 * throws. So a store or a configuration that never answers can't keep a turn from ending.
 *
 * @param graceMs milliseconds
 * @throws `STORE_UNAVAILABLE` if there is no answer in time; the error of the answer
 */
export async function withGrace<T>(
  answer: Promise<T>,
  signal: AbortSignal | undefined,
  graceMs: number,
): Promise<T> {
  if (signal === undefined) return answer;
  let end = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = () => {
      timer = setTimeout(() => {
        reject(
          new EthosError('STORE_UNAVAILABLE', 'the store gave no answer before the turn was over'),
        );
      }, graceMs);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
    end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wait);
    };
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    end();
  }
}

/** As `withGrace`, but throws as soon as the signal fires. @throws the reason of the signal */
export function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
