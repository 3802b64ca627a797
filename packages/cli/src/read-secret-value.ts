import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';
import { safeText } from './output.js';

/**
 * The value of a secret: typed unseen, or all of standard input without its last line end. It is
 * never an argument.
 *
 * @throws `CONFIG_INVALID` for an empty one
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
