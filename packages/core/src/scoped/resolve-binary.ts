import { findBinary, isExecutableFile } from '@ethosagent/process';
import { CapabilityError, EthosError } from '@ethosagent/types';
import { textOf } from '../access.js';
import { binaryNameKind } from '../binary-name.js';

/**
 * Returns the absolute path of a binary that the call may run.
 *
 * @param binary its bare name, or its absolute path
 * @param options `allowed`: the names that were declared, `*` for any. `path`: the host's `PATH`
 * @throws `BINARY_NOT_ALLOWED`; `SPAWN_FAILED` if it is not installed
 */
export function resolveBinary(
  binary: string,
  { allowed, path }: { allowed: ReadonlySet<string>; path: string },
): string {
  const denied = (rule: string, why = '') =>
    new CapabilityError(
      'BINARY_NOT_ALLOWED',
      `${textOf(binary)} is not in the declared allowedBinaries${why}`,
      rule,
    );
  const kind = binaryNameKind(binary);
  if (kind === 'malformed')
    throw denied('malformed name', ', and can not be: a binary is a bare name or an absolute path');
  if (!allowed.has(binary) && !allowed.has('*')) throw denied('not declared');
  if (kind === 'relative') {
    throw denied(
      'neither a bare name nor an absolute path',
      ', and can not be: a binary is a bare name or an absolute path',
    );
  }
  if (kind === 'absolute') {
    if (isExecutableFile(binary)) return binary;
  } else {
    const file = findBinary(binary, path);
    if (file !== undefined) return file;
  }
  throw new EthosError('SPAWN_FAILED', `${binary} is not installed; ask the operator to add it`);
}
