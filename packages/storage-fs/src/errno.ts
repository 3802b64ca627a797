import { type ErrorCode, EthosError, errorCodeOf } from '@ethosagent/types';

const NOT_A_FILE = ['NOT_A_FILE', 'it is a folder, a pipe, a socket or a device'] as const;
const NO_ACCESS = [
  'PERMISSION_DENIED',
  'the operating system refused; check the owner and mode',
] as const;
const FULL = ['DISK_FULL', 'no space is left; free some and try again'] as const;
const BUSY = ['STORAGE_FAILED', 'too many files are open; try again when some are closed'] as const;
const TAKEN = ['ALREADY_EXISTS', 'something else is already there; remove it first'] as const;

/** The code and the meaning of each error of the operating system. */
const ERRNO: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['FILE_NOT_FOUND', 'there is no such file or folder'],
  EISDIR: NOT_A_FILE,
  ENXIO: NOT_A_FILE,
  ENODEV: NOT_A_FILE,
  ENOTDIR: ['NOT_A_DIRECTORY', 'a part of the path is not a folder'],
  EACCES: NO_ACCESS,
  EPERM: NO_ACCESS,
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: ['READ_ONLY', 'the file system is read-only; choose another place'],
  EFBIG: ['FILE_TOO_LARGE', 'the file is larger than the system allows'],
  ENAMETOOLONG: ['PATH_INVALID', 'the path, or a name in it, is too long'],
  EILSEQ: ['PATH_INVALID', 'the file system does not take such a name'],
  EEXIST: TAKEN,
  ENOTEMPTY: TAKEN,
  EXDEV: ['STORAGE_FAILED', 'both ends are on different file systems; copy, then remove'],
  EMFILE: BUSY,
  ENFILE: BUSY,
  EIO: ['STORAGE_FAILED', 'the disk failed; ask the operator to check it'],
  ELOOP: ['STORAGE_FAILED', 'too many symbolic links'],
};

export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof EthosError) return undefined;
  if (!('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the error says that nothing exists at the path. */
export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR' || errorCodeOf(error) === 'NOT_A_DIRECTORY';
}

/**
 * Turns an error of the operating system into one with a stable code, which names the path that was
 * asked for. The original is not kept as a cause, since its text contains real paths. Other errors
 * are returned unchanged.
 */
export function storageError(error: unknown, operation: string, asked: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const [code, meaning] = ERRNO[errno] ?? [
    'STORAGE_FAILED',
    'the operating system failed; ask the operator to look at it',
  ];
  return new EthosError(code, `${operation} ${asked}: ${meaning} (${errno})`);
}
