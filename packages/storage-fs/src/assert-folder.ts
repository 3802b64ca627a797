import { isAbsolute } from 'node:path';
import { EthosError } from '@ethosagent/types';

/**
 * Checks the option `dir` of a function.
 *
 * @throws `CONFIG_INVALID` if it is not an absolute path
 */
export function assertFolder(of: string, dir: unknown): void {
  if (typeof dir !== 'string' || !isAbsolute(dir)) {
    throw new EthosError('CONFIG_INVALID', `${of}: dir must be an absolute path`);
  }
}
