import { z } from 'zod';

/** Milliseconds that a run may take, unless the call or the operator says otherwise. */
export const DEFAULT_TIMEOUT_MS = 300_000;
/** Milliseconds that a run may take at most. */
export const MAX_TIMEOUT_MS = 1_800_000;
/** Milliseconds that a call has after a time-out, to end the run and to answer. */
export const GRACE_MS = 10_000;

export const timeoutInput = z
  .int()
  .min(1_000)
  .max(MAX_TIMEOUT_MS)
  .optional()
  .describe('Milliseconds after which the run is ended. Leave it out unless a run was too slow.');

export const pathInput = z
  .string()
  .min(1)
  .optional()
  .describe(
    'A file or folder to check, relative to the working directory. The whole working directory when absent.',
  );

/**
 * Returns the schema of the settings of a tool that runs one of several programs, with these names.
 */
export function runnerSettings<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.strictObject({
    runner: z
      .enum(names)
      .optional()
      .describe('The program to use, whatever the project shows. Detected when absent.'),
    default_timeout_ms: z
      .int()
      .min(1_000)
      .max(MAX_TIMEOUT_MS)
      .default(DEFAULT_TIMEOUT_MS)
      .describe('Milliseconds that a run may take when the call names no time.'),
    max_problems: z
      .int()
      .min(1)
      .max(5_000)
      .default(100)
      .describe('How many problems or failures a result lists at most. All are counted.'),
  });
}

/** The settings of `lint`, `typecheck` and `run_tests`. */
export interface RunnerSettings {
  runner?: string | undefined;
  default_timeout_ms: number;
  max_problems: number;
}
