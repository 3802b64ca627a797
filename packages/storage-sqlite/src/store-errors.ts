import { EthosError, errorCodeOf } from '@ethosagent/types';
import { DriverMissing } from './driver/load-driver.js';

const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/;

/** Whether the error says that another connection holds a lock. Another attempt may succeed. */
export function isBusy(error: unknown): boolean {
  return BUSY.test(systemCodeOf(error));
}

/**
 * Turns an error of SQLite, Node or this package into a typed error. Its message contains no key
 * and no value. `cause` may contain them, and is for the operator.
 *
 * @param file the path of the database while it is being opened; later errors reach the caller of a
 * tool, and must not contain a path
 */
export function toStoreError(error: unknown, file?: string): Error {
  if (error instanceof Error && errorCodeOf(error) !== undefined) return error;
  const code = systemCodeOf(error);
  // The statements never change. So if one is invalid (SQLITE_ERROR), the tables are not ours.
  if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) {
    return new EthosError(
      'STORE_CORRUPT',
      `the database${file === undefined ? '' : ` ${file}`} is damaged (${code}); restore it from a backup`,
      { cause: error },
    );
  }
  const what = file === undefined ? 'the store' : `the store ${file}`;
  if (error instanceof DriverMissing) {
    return new EthosError('STORE_UNAVAILABLE', `${what} was not opened; ${driverAdvice(error)}`, {
      cause: error.cause,
    });
  }
  return new EthosError('STORE_UNAVAILABLE', `${what} failed (${code}); ${adviceFor(code)}`, {
    cause: error,
  });
}

export function closedError(): EthosError {
  return new EthosError('STORE_UNAVAILABLE', 'the store is closed; create a new one');
}

const NEWER_NODE = 'use the newest Node 22 or 24, whose own SQLite will do';

function driverAdvice({ failures }: DriverMissing): string {
  if (!('better-sqlite3' in failures)) return `node:sqlite is not there or too old: ${NEWER_NODE}`;
  const error = failures['better-sqlite3'];
  const isInstalled = !(
    systemCodeOf(error) === 'MODULE_NOT_FOUND' &&
    error instanceof Error &&
    error.message.includes("'better-sqlite3'")
  );
  return isInstalled
    ? `better-sqlite3 was built for another version of Node, or not at all: run \`npm rebuild better-sqlite3\`, or ${NEWER_NODE}`
    : `better-sqlite3 is not installed: run \`npm install better-sqlite3\`, or ${NEWER_NODE}`;
}

function adviceFor(code: string): string {
  if (BUSY.test(code)) return 'other processes kept it locked; try again later';
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) return 'free some disk space and try again';
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code)) {
    return 'check that this process may write the file and its folder';
  }
  // SQLite also says so where a full disk leaves no space for its own files.
  if (/^SQLITE_IOERR/.test(code)) return 'free some disk space or repair the disk, and try again';
  return 'check the disk and the folder of the file';
}

/** The result codes of SQLite, which `node:sqlite` reports as numbers. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: 'ERROR',
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  17: 'SCHEMA',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  20: 'MISMATCH',
  21: 'MISUSE',
  26: 'NOTADB',
};

function systemCodeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) {
    return 'UNKNOWN';
  }
  if (error.code !== 'ERR_SQLITE_ERROR' || !('errcode' in error)) return error.code;
  // The low byte is the code. The others give details.
  return `SQLITE_${RESULT_CODES[Number(error.errcode) & 0xff] ?? error.errcode}`;
}
