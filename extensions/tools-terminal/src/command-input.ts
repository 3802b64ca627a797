import { err } from '@ethosagent/plugin-sdk';
import type { ScopedFs, ToolResult } from '@ethosagent/types';
import { z } from 'zod';

// The policy judges at most this many characters. Linux takes up to 131,072 bytes in one argument.
const MAX_COMMAND_CHARS = 32_768;

/** The argument `command` of a call. */
export const commandInput = z
  .string()
  .trim()
  .min(1)
  .refine(
    (text) => text.isWellFormed() && !text.includes('\0'),
    'holds NUL or half a surrogate pair',
  )
  .refine(
    (text) => text.length <= MAX_COMMAND_CHARS,
    `is longer than ${MAX_COMMAND_CHARS} characters; put it into a script file`,
  );

/**
 * Returns the answer of a dry run when the folder is missing, else `undefined`.
 *
 * @throws `PATH_NOT_REACHABLE` when the folder is out of reach
 */
export async function missingFolder(fs: ScopedFs, cwd: string): Promise<ToolResult | undefined> {
  if (await fs.exists(cwd)) return undefined;
  return err(`cwd: there is no folder ${cwd}; give another.`);
}

/** The argument `cwd` of a call. */
export const cwdInput = z
  .string()
  .min(1)
  .optional()
  .describe(
    'The folder to run in, relative to the working directory. The default is that directory.',
  );
