import { errorText } from '@ethosagent/policy';
import { EthosError, errorCodeOf } from '@ethosagent/types';

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
