import { EthosError, errorCodeOf } from '@ethosagent/types';

const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/;

/** Another connection holds a lock: worth another try. */
export function isBusy(error: unknown): boolean {
  return BUSY.test(systemCodeOf(error));
}

/**
 * The typed error for what SQLite, Node or this package threw. Holds no key or value; those may be
 * in `cause`, which is for the operator.
 *
 * @param file the path of the database while it is opened. Later errors go to whoever called a tool,
 * and hold no path
 */
export function toStoreError(error: unknown, file?: string): Error {
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
  const what = file === undefined ? 'the store' : `the store ${file}`;
  const advice = isDriverMissing(error, code) ? DRIVER : adviceFor(code);
  return new EthosError('STORE_UNAVAILABLE', `${what} failed (${code}); ${advice}`, {
    cause: error,
  });
}

export function closedError(): EthosError {
  return new EthosError('STORE_UNAVAILABLE', 'the store is closed; create a new one');
}

const DRIVER =
  'better-sqlite3 was built for another version of Node, or not at all: run `npm rebuild better-sqlite3`';

/** Its binary could not be loaded, or the `bindings` that look for it found none. */
function isDriverMissing(error: unknown, code: string): boolean {
  if (code === 'ERR_DLOPEN_FAILED') return true;
  return error instanceof Error && 'tries' in error && Array.isArray(error.tries);
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
