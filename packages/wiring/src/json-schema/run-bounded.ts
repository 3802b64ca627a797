import { createContext, Script } from 'node:vm';

const place: { run: () => unknown } = { run: () => undefined };
const context = createContext(place);
const script = new Script('run()');

/**
 * Runs synchronous code, and stops it when its time is up, even within a regular expression. It is
 * no sandbox: the code belongs to this process.
 *
 * @throws what `run` throws; `ERR_SCRIPT_EXECUTION_TIMEOUT`
 */
export function runBounded(run: () => unknown, timeoutMs: number): unknown {
  place.run = run;
  try {
    return script.runInContext(context, { timeout: timeoutMs });
  } finally {
    place.run = () => undefined;
  }
}
