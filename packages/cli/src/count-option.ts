import { usageError } from './cli-error.js';
import { type CommandInput, textOption } from './command-spec.js';

const MAX = 1_000_000;

/** The value of an option that takes a number. @throws `CONFIG_INVALID` for anything else */
export function countOption(options: CommandInput['options'], name: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX) return count;
  throw usageError(`--${name}: ${text} is not a whole number between 1 and ${MAX}`);
}
