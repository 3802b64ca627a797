import { z } from 'zod';
import { type CommandPolicyInput, commandPolicySchema } from './command-policy/policy-settings.js';

/** The longest that a command may run at all: an hour. */
export const LONGEST_MS = 3_600_000;

const relativeFolder = z
  .string()
  .min(1)
  .refine((path) => !path.split('/').includes('..'), 'must not hold `..`');

/** The key of `tool_settings` for all tools that run commands: one policy holds for all of them. */
export const SETTINGS_KEY = 'terminal';

/** What an operator sets under it. */
export function terminalSettings(policy: CommandPolicyInput = {}) {
  return z.strictObject({
    policy: commandPolicySchema
      .prefault(policy)
      .describe('Which commands run, which ask, which are refused.'),
    default_timeout_ms: z
      .int()
      .min(100)
      .max(LONGEST_MS)
      .default(120_000)
      .describe('Milliseconds that a command may take which says nothing else.'),
    max_timeout_ms: z
      .int()
      .min(100)
      .max(LONGEST_MS)
      .default(600_000)
      .describe('Milliseconds that a command may ask for at most.'),
    max_output_chars: z
      .int()
      .min(200)
      .max(1_000_000)
      .default(30_000)
      .describe('Characters of the output that the model gets; the beginning and the end of it.'),
    spill_max_mb: z
      .number()
      .min(0)
      .max(10_240)
      .default(50)
      .describe('MiB of a larger output that are kept in a file; 0 for none.'),
    spill_dir: relativeFolder
      .default('.ethos/terminal')
      .describe('The folder of those files: absolute, or below the working directory.'),
  });
}

/** The settings of `terminal`, parsed. */
export type TerminalSettings = z.output<ReturnType<typeof terminalSettings>>;
