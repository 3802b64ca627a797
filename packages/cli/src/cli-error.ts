import { errorText } from '@ethosagent/policy';
import { type ErrorCode, EthosError, errorCodeOf } from '@ethosagent/types';

/** The error of a command that can't be done. The message says what to do next. */
export function usageError(message: string): EthosError {
  return new EthosError('CONFIG_INVALID', message);
}

/** The message of an error for people, without the code at its start. */
export function messageOf(error: unknown): string {
  const prefix = `${errorCodeOf(error)}: `;
  const text = errorText(error);
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

/** What the operating system refuses, and what to do about it. */
const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it; change its owner or mode, or those of the folders above it',
  EPERM: 'the operating system refuses this; change its owner or mode, or use another place',
  ELOOP: 'its links lead in a circle; put the file or folder itself there',
  ENOTDIR:
    'the path or a part of it is a file where a folder should be; correct the path, or move the file',
  EISDIR: 'a folder is where a file should be; remove it or rename it',
  ENAMETOOLONG: 'the path, or a name in it, is too long; use a shorter one',
  EROFS: 'its file system is read-only; use another place, or make it writable',
  ENOSPC: 'no space is left; free some and try again',
  EDQUOT: 'no space is left for this user; free some and try again',
  EMFILE: 'too many files are open; raise the limit (ulimit -n) and try again',
  ENFILE: 'too many files are open on this machine; try again when some are closed',
};

const FULL: readonly string[] = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'];

/**
 * Returns the code and the message that the command line prints for an error.
 *
 * @returns `undefined` for a defect, whose stack is needed
 */
export function toldOf(error: unknown): { code: ErrorCode; message: string } | undefined {
  const code = errorCodeOf(error);
  if (code !== undefined) return { code, message: messageOf(error) };
  const { syscall, code: errno, path }: Partial<NodeJS.ErrnoException> = Object(error);
  if (syscall === undefined || errno === undefined) return undefined;
  const meaning = Object.hasOwn(SYSTEM_ERRORS, errno) ? SYSTEM_ERRORS[errno] : undefined;
  if (meaning === undefined) return undefined;
  const where = typeof path === 'string' ? path : 'a file of the home';
  return {
    code: FULL.includes(errno) ? 'STORAGE_FAILED' : 'CONFIG_INVALID',
    message: `${where}: ${meaning} (${errno})`,
  };
}
