import { z } from 'zod';
import { patternProblem } from './command-pattern.js';
import { RULE_NAMES } from './rule-names.js';

const decision = z.enum(['allow', 'ask', 'deny']);

/**
 * The schema of a command policy, which an operator writes. Parsing `{}` gives the policy of a
 * personality that sets none.
 *
 * The `command` of a rule describes the first words of a command. A `*` alone stands for any words,
 * and a `*` within a word for any characters: `git push * --force`, `npm run deploy:*`. `> *.env`
 * is about files that are written, `< data/*` about files that are read, and `NODE_ENV=*` about a
 * variable that is set in any way. A rule that asks or denies ignores folders in names, and options
 * of git before its subcommand. A rule that allows takes names as they are written: `git` does not
 * allow `./git`.
 */
export const commandPolicySchema = z.strictObject({
  shell: z
    .boolean()
    .default(true)
    .describe(
      'Whether a line is shell text. With `false`, a line must be one command of plain words that a rule allows. It is run without a shell.',
    ),
  default: decision.default('allow').describe('The decision for a command that no rule matches.'),
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
          .describe(
            'The first words of commands, e.g. `git push * --force`; `*` stands for any words.',
          ),
        decision,
      }),
    )
    .max(500)
    .default([])
    .describe(
      'The strictest rule that matches holds. An `allow` that surely matches lifts built-in rules that only ask.',
    ),
  defaults: z
    .union([
      z.boolean(),
      z.strictObject({
        except: z.array(z.enum(RULE_NAMES)).describe('The names of built-in rules that are off.'),
      }),
    ])
    .default(true)
    .describe('Whether the built-in rules apply.'),
});

/** A parsed command policy, with its defaults. */
export type CommandPolicy = z.output<typeof commandPolicySchema>;

/** A command policy as an operator writes it. All fields are optional. */
export type CommandPolicyInput = z.input<typeof commandPolicySchema>;
