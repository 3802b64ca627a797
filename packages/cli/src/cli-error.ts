import { errorText } from '@ethosagent/policy';
import { EthosError, errorCodeOf } from '@ethosagent/types';

/** The exit codes of the command. */
export const EXIT = {
  /** Done, and nothing to report. */
  ok: 0,
  /** Done, and it found something: a problem, a refused call, a forged log. */
  found: 1,
  /** Not done: wrong usage, a wrong configuration, a file that can't be read. */
  failed: 2,
} as const;

/** What ends a command that can't be done. The message says what to do next. */
export function usageError(message: string): EthosError {
  return new EthosError('CONFIG_INVALID', message);
}

/** What an error says to people: its message without the code that it begins with. */
export function messageOf(error: unknown): string {
  const prefix = `${errorCodeOf(error)}: `;
  const text = errorText(error);
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
