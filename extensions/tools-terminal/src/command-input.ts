import { z } from 'zod';

// Linux takes 131,072 bytes in one argument.
const MAX_COMMAND_BYTES = 120_000;

/** The command of a call. */
export const commandInput = z
  .string()
  .trim()
  .min(1)
  .refine(
    (text) => text.isWellFormed() && !text.includes('\0'),
    'holds NUL or half a surrogate pair',
  )
  .refine(
    (text) => Buffer.byteLength(text) <= MAX_COMMAND_BYTES,
    `is longer than ${MAX_COMMAND_BYTES} bytes; put it into a script file`,
  );

/** The folder of a call. */
export const cwdInput = z
  .string()
  .min(1)
  .optional()
  .describe('Folder to run in; relative to the working directory, which is the default.');
