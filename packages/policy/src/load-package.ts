import { createRequire } from 'node:module';
import { EthosError } from '@ethosagent/types';
import { once } from './once.js';

const requireHere = once(() => createRequire(import.meta.url));

/**
 * Loads a package that is written in CommonJS, at its first use. A static import of one starts a
 * lexer first, which takes 8 ms and 5 MB. `require` does not.
 *
 * @param load gets `require`, and returns what it loaded
 * @returns the package
 * @throws `TOOL_UNAVAILABLE` when the package is missing or broken. The next use tries again
 */
export function loadPackage<T>(load: (require: NodeJS.Require) => T): () => T {
  return once(() => {
    try {
      return load(requireHere());
    } catch (cause) {
      throw new EthosError(
        'TOOL_UNAVAILABLE',
        'a package that @ethosagent/policy depends on could not be loaded; install the dependencies again',
        { cause },
      );
    }
  });
}
