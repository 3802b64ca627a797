import { commandForms } from './command-forms.js';
import { matchesPattern } from './command-pattern.js';
import type { Decision } from './decision.js';
import { SPLIT } from './marked-text.js';
import type { CommandPolicy } from './policy-settings.js';
import { nameOf } from './words-to-command.js';

/**
 * Returns the strictest of the operator's rules that match a command; `undefined` when none does.
 */
export function decideByRules(
  rules: CommandPolicy['rules'],
  [written = '', ...args]: readonly string[],
): { decision: Decision; pattern: string } | undefined {
  const forms = commandForms([nameOf(written) ?? SPLIT, ...args]);
  let strictest: { decision: Decision; pattern: string } | undefined;
  for (const { command: pattern, decision } of rules) {
    if (strictest?.decision === 'deny') break;
    if (strictest?.decision === 'ask' && decision === 'allow') continue;
    const found =
      decision === 'allow'
        ? // A rule that allows `git` does not allow `/tmp/git`.
          matchesPattern(pattern, [written, ...args], 'surely') && decision
        : matched(withoutFolder(pattern), forms, decision);
    if (found !== false) strictest = { decision: found, pattern };
  }
  return strictest;
}

/** Returns the decision of a rule that asks or denies. When a command only may match, it asks. */
function matched(
  pattern: string,
  forms: readonly (readonly string[])[],
  decision: 'ask' | 'deny',
): 'ask' | 'deny' | false {
  if (forms.some((words) => matchesPattern(pattern, words, 'surely'))) return decision;
  return forms.some((words) => matchesPattern(pattern, words, 'perhaps')) && 'ask';
}

/** Returns a pattern with the name in its first word, without the folder. */
function withoutFolder(pattern: string): string {
  const [first = '', ...rest] = pattern.trim().split(/\s+/);
  return [first.slice(first.lastIndexOf('/') + 1) || first, ...rest].join(' ');
}
