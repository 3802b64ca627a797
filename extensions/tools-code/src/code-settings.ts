import { z } from 'zod';

/** Milliseconds that a run may take, unless the call or the operator says otherwise. */
export const DEFAULT_TIMEOUT_MS = 300_000;
/** Milliseconds that a run may take at most. */
export const MAX_TIMEOUT_MS = 1_800_000;
/** Milliseconds to end the run and to answer, before the registry ends the call. */
export const GRACE_MS = 10_000;

export const timeoutInput = z
  .int()
  .min(1_000)
  .max(MAX_TIMEOUT_MS)
  .optional()
  .describe('Milliseconds after which it is ended. Leave it out unless a run was too slow.');

export const pathInput = z
  .string()
  .min(1)
  .optional()
  .describe('A file or folder to check, relative to the working directory. All of it when absent.');

/** What an operator may set for a tool that runs one of several. */
export function runnerSettings<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.strictObject({
    /** The one to use, whatever the project shows. */
    runner: z.enum(names).optional(),
    default_timeout_ms: z.int().min(1_000).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
    /** Problems or failures that a result lists at most. All are counted. */
    max_problems: z.int().min(1).max(5_000).default(100),
  });
}

/** The settings of `lint`, `typecheck` and `run_tests`. */
export interface RunnerSettings {
  runner?: string | undefined;
  default_timeout_ms: number;
  max_problems: number;
}
