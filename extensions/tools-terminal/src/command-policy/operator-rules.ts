import { commandForms } from './command-forms.js';
import { matchesPattern } from './command-pattern.js';
import type { Decision } from './decision.js';
import { SPLIT } from './marked-text.js';
import type { CommandPolicy } from './policy-settings.js';
import { nameOf } from './words-to-command.js';

/** What the operator's rules say of a command: the strictest of those that match, if any does. */
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

/** The decision of a rule that asks or denies. A command that only may match is asked about, not denied. */
function matched(
  pattern: string,
  forms: readonly (readonly string[])[],
  decision: 'ask' | 'deny',
): 'ask' | 'deny' | false {
  if (forms.some((words) => matchesPattern(pattern, words, 'surely'))) return decision;
  return forms.some((words) => matchesPattern(pattern, words, 'perhaps')) && 'ask';
}

/** A pattern whose first word is a name without its folder. */
function withoutFolder(pattern: string): string {
  const [first = '', ...rest] = pattern.trim().split(/\s+/);
  return [first.slice(first.lastIndexOf('/') + 1) || first, ...rest].join(' ');
}
