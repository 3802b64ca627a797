/**
 * Tries with twice the time, and twice again, until there was enough: a limit in milliseconds that
 * is to end something after its beginning, on a machine of any speed.
 */
export async function withEnoughTime<T>(
  run: (timeoutMs: number) => Promise<T>,
  isEnough: (outcome: T) => boolean,
): Promise<T> {
  let timeoutMs = 500;
  let outcome = await run(timeoutMs);
  while (!isEnough(outcome) && timeoutMs < 60_000) {
    timeoutMs *= 2;
    outcome = await run(timeoutMs);
  }
  return outcome;
}
