import { EthosError, errorCodeOf } from '@ethosagent/types';

const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/;

/** Another connection holds a lock: worth another try. */
export function isBusy(error: unknown): boolean {
  return BUSY.test(systemCodeOf(error));
}

/**
 * The typed error for what SQLite, Node or this package threw. Holds no path, key or value; those
 * may be in `cause`, which is for the operator.
 */
export function toStoreError(error: unknown): Error {
  if (error instanceof Error && errorCodeOf(error) !== undefined) return error;
  const code = systemCodeOf(error);
  // The statements are fixed, so when one makes no sense (SQLITE_ERROR) the tables are not ours.
  if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) {
    return new EthosError(
      'STORE_CORRUPT',
      `the database is damaged (${code}); restore it from a backup`,
      { cause: error },
    );
  }
  return new EthosError('STORE_UNAVAILABLE', `the store failed (${code}); ${adviceFor(code)}`, {
    cause: error,
  });
}

export function closedError(): EthosError {
  return new EthosError('STORE_UNAVAILABLE', 'the store is closed; create a new one');
}

function adviceFor(code: string): string {
  if (BUSY.test(code)) return 'other processes kept it locked; try again later';
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) return 'free some disk space and try again';
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code)) {
    return 'check that this process may write the file and its folder';
  }
  return 'check the disk and the folder of the file';
}

function systemCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'UNKNOWN';
}
