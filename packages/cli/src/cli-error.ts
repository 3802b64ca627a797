import { errorText } from '@ethosagent/policy';
import { EthosError, errorCodeOf } from '@ethosagent/types';

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
