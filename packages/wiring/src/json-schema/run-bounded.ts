import { createContext, Script } from 'node:vm';

const place: { run: () => unknown } = { run: () => undefined };
const context = createContext(place);
const script = new Script('run()');

/**
 * Runs code that waits for nothing, and ends it when its time is up, also within a regular
 * expression. No sandbox: the code is this process's own.
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
