import { z } from 'zod';
import { patternProblem } from './command-pattern.js';
import { RULE_NAMES } from './rule-names.js';

const decision = z.enum(['allow', 'ask', 'deny']);

/**
 * What an operator says about commands. What it parses of `{}` is the policy of a personality that sets
 * none.
 *
 * The `command` of a rule is the first words of a command. `*` alone stands for any words, within a
 * word for any characters: `git push * --force`, `npm run deploy:*`. `> *.env` is about files that are
 * written, `< data/*` about files that are read, `NODE_ENV=*` about a variable that is set in any way.
 * A rule that asks or denies ignores folders in names, and options of git before its subcommand. One
 * that allows takes names as they are written: `git` does not allow `./git`.
 */
export const commandPolicySchema = z.strictObject({
  shell: z
    .boolean()
    .default(true)
    .describe(
      'Whether a line is shell text. With `false` it is one command of plain words that a rule allows, run without a shell.',
    ),
  default: decision.default('allow').describe('What holds for a command that no rule is about.'),
  rules: z
    .array(
      z.strictObject({
        command: z
          .string()
          .max(1000)
          .superRefine((pattern, ctx) => {
            const problem = patternProblem(pattern);
            if (problem !== undefined) ctx.addIssue(problem);
          })
          .describe('First words of commands, e.g. `git push * --force`; `*` is any words.'),
        decision,
      }),
    )
    .max(500)
    .default([])
    .describe('Of those that match, the strictest holds. A sure `allow` lifts what only asks.'),
  defaults: z
    .union([
      z.boolean(),
      z.strictObject({
        except: z.array(z.enum(RULE_NAMES)).describe('Names of rules that are off.'),
      }),
    ])
    .default(true)
    .describe('Whether the built-in rules hold.'),
});

/** A command policy as it is used. */
export type CommandPolicy = z.output<typeof commandPolicySchema>;

/** A command policy as it is written. */
export type CommandPolicyInput = z.input<typeof commandPolicySchema>;
