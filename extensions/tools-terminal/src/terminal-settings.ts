import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { z } from 'zod';
import { type CommandPolicyInput, commandPolicySchema } from './command-policy/policy-settings.js';

/** Options of the tools that run or type commands. */
export interface TerminalOptions {
  /** The command policy of a personality that sets none. */
  policy?: CommandPolicyInput;
}

/** The longest time that any command may run, in milliseconds: an hour. */
export const LONGEST_MS = 3_600_000;

const relativeFolder = z
  .string()
  .min(1)
  .refine((path) => !path.split('/').includes('..'), 'must not hold `..`');

/** The key in `tool_settings` of all tools that run commands. They share one policy. */
export const SETTINGS_KEY = 'terminal';

const OPTIONS: OptionNames<TerminalOptions> = { policy: true };

/**
 * Returns the schema of the settings under that key.
 *
 * @param of the function that takes the options, for messages
 * @param options the policy when a personality sets none
 * @throws `CONFIG_INVALID` for an option that there is not, or an invalid policy
 */
export function terminalSettings(of: string, options: TerminalOptions) {
  assertOptions(of, options, OPTIONS);
  const { policy } = options;
  if (policy === undefined) return usual;
  const parsed = commandPolicySchema.safeParse(policy);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(
      ({ path, message }) => `${['policy', ...path].join('.')}: ${message}`,
    );
    throw new EthosError('CONFIG_INVALID', `${of}: ${wrong.join('; ')}`);
  }
  return settingsOf(policy);
}

function settingsOf(policy: CommandPolicyInput) {
  return z.strictObject({
    policy: commandPolicySchema
      .prefault(policy)
      .describe('Which commands run, which need approval, and which are refused.'),
    default_timeout_ms: z
      .int()
      .min(100)
      .max(LONGEST_MS)
      .default(120_000)
      .describe('Milliseconds that a command may take when the call names no time.'),
    max_timeout_ms: z
      .int()
      .min(100)
      .max(LONGEST_MS)
      .default(600_000)
      .describe('The most milliseconds that a call may name.'),
    max_output_chars: z
      .int()
      .min(200)
      .max(1_000_000)
      .default(30_000)
      .describe(
        'Characters of the output that the model gets. Of a longer output, it gets both ends.',
      ),
    spill_max_mb: z
      .number()
      .min(0)
      .max(10_240)
      .default(50)
      .describe('MiB of a longer output that are kept in a file; 0 for no file.'),
    spill_dir: relativeFolder
      .default('.ethos/terminal')
      .describe('The folder of those files: absolute, or below the working directory.'),
  });
}

// The tools share it, and so its JSON Schema, which takes milliseconds to write.
const usual = settingsOf({});

/** The parsed settings of `terminal`, with their defaults. */
export type TerminalSettings = z.output<ReturnType<typeof terminalSettings>>;
