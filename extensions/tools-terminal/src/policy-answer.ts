import { resolve } from 'node:path';
import { err } from '@ethosagent/plugin-sdk';
import { showHidden } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import type { Finding, Verdict } from './command-policy/decision.js';
import { judgeCommand } from './command-policy/judge-command.js';
import type { CommandPolicy } from './command-policy/policy-settings.js';

/** How many findings are described in full. */
const MAX_TOLD = 5;
/** How many rules of the other findings are named, each with its count. */
const MAX_NAMED = 20;

/** The command of a call, and its folder. */
export interface AskedCommand {
  command: string;
  cwd?: string | undefined;
}

/** Judges the command of a call by the policy. */
export function judgeCall(
  { command, cwd = '.' }: AskedCommand,
  policy: CommandPolicy,
  workingDir: string,
): Verdict {
  return judgeCommand(command, policy, { workingDir, cwd: resolve(workingDir, cwd) });
}

/**
 * Says why a call needs approval; `false` when it needs none, or when it will be refused anyway.
 */
export function approvalReason(
  asked: AskedCommand,
  policy: CommandPolicy,
  workingDir: string,
): string | false {
  const { decision, findings } = judgeCall(asked, policy, workingDir);
  return decision === 'ask' && describeFindings(findings);
}

/** Returns the refusal of a call; `undefined` when the policy does not refuse it. */
export function policyDenial({ decision, findings }: Verdict): ToolResult | undefined {
  if (decision !== 'deny') return undefined;
  const denied = findings.filter((finding) => finding.decision === 'deny');
  return err(
    `The command policy refuses this, and nothing was run: ${describeFindings(denied)}. Do it in another way, or leave it to the user.`,
    'execution_failed',
    'BINARY_NOT_ALLOWED',
  );
}

/**
 * Describes findings: each command, what is wrong with it, and the rule that says so. One finding
 * of each rule comes first, so that many findings of one rule do not hide another. The rest is
 * counted by rule.
 */
export function describeFindings(findings: readonly Finding[]): string {
  const rules = new Set<string>();
  const firsts = findings.filter(({ rule }) => rules.size < rules.add(rule).size);
  const inOrder = [...new Set([...firsts, ...findings])];
  const told = inOrder
    .slice(0, Math.max(MAX_TOLD, Math.min(firsts.length, MAX_NAMED)))
    .map(({ command, why, rule }) => `\`${command}\` ${why} (rule ${rule})`);
  const rest = inOrder.slice(told.length);
  if (rest.length > 0) told.push(`and ${rest.length} more (${countedByRule(rest)})`);
  return showHidden(told.join('; '));
}

function countedByRule(findings: readonly Finding[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of findings) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const named = [...counts].slice(0, MAX_NAMED).map(([rule, count]) => `${count} of rule ${rule}`);
  return named.join(', ') + (counts.size > named.length ? ', and of other rules' : '');
}
