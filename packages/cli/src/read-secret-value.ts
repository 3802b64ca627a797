import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';
import { safeText } from './output.js';

/**
 * Reads the value of a secret: typed without being shown, or the whole standard input without its
 * last line break. It is never an argument.
 *
 * @throws `CONFIG_INVALID` for an empty value
 */
export async function readSecretValue(ref: string, io: CliIo): Promise<string> {
  const typed =
    io.askSecret === undefined ? undefined : await io.askSecret(`Value of ${safeText(ref)}: `);
  const value = typed ?? (await io.readInput()).replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw usageError(
    'the value is empty, so nothing was stored; type it, or send it to standard input',
  );
}
