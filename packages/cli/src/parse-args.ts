import { errorText } from '@ethosagent/policy';
import { usageError } from './cli-error.js';

/** Parses the arguments of a call that an operator wrote. @throws `CONFIG_INVALID` */
export function parseArgs(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(
      `the arguments are not JSON: ${errorText(error)}; write them as '{"path": "a.txt"}'`,
    );
  }
}
