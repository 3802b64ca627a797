import { EthosError } from '@ethosagent/types';
import { headPath } from './head-file.js';

/** The error where no log is. */
export function noLogAt(path: string): EthosError {
  return new EthosError(
    'FILE_NOT_FOUND',
    `there is no audit log at ${path}; a runtime writes one in the folder audit of its home, so give that home or folder`,
  );
}

export function unknownEnd(path: string): EthosError {
  return refused(
    path,
    `its end is not what was recorded last, or the key is another; check it with "ethosagent audit verify" (in a program: verifyAuditLog), then move it, its numbered files and ${headPath(path)} to another folder`,
  );
}

export function refused(path: string, why: string): EthosError {
  return new EthosError('CONFIG_INVALID', `${path}: the audit log can not be continued: ${why}`);
}

export function touched(path: string): EthosError {
  return failed(
    `${path}: another program changed, moved or removed the audit log; check it with "ethosagent audit verify" (in a program: verifyAuditLog), and open it again`,
  );
}

export function failed(detail: string): EthosError {
  return new EthosError('STORAGE_FAILED', detail);
}
