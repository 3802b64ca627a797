import { resolve } from 'node:path';
import { err } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import type { Finding, Verdict } from './command-policy/decision.js';
import { judgeCommand } from './command-policy/judge-command.js';
import type { CommandPolicy } from './command-policy/policy-settings.js';

const MAX_TOLD = 5;

/** What a call asks to run, and where. */
export interface AskedCommand {
  command: string;
  cwd?: string | undefined;
}

/** What the policy says to a call. */
export function judgeCall(
  { command, cwd = '.' }: AskedCommand,
  policy: CommandPolicy,
  workingDir: string,
): Verdict {
  return judgeCommand(command, policy, { workingDir, cwd: resolve(workingDir, cwd) });
}

/** Why a call needs approval; `false` where it doesn't, or will be refused anyway. */
export function approvalReason(
  asked: AskedCommand,
  policy: CommandPolicy,
  workingDir: string,
): string | false {
  const { decision, findings } = judgeCall(asked, policy, workingDir);
  return decision === 'ask' && describeFindings(findings);
}

/** The refusal of a call, if the policy refuses it. */
export function policyDenial({ decision, findings }: Verdict): ToolResult | undefined {
  if (decision !== 'deny') return undefined;
  const denied = findings.filter((finding) => finding.decision === 'deny');
  return err(
    `The command policy refuses this, and nothing was run: ${describeFindings(denied)}. Do it in another way, or leave it to the user.`,
    'not_available',
  );
}

/** Each command in question, what is wrong with it, and which rule says so. */
export function describeFindings(findings: readonly Finding[]): string {
  const told = findings
    .slice(0, MAX_TOLD)
    .map(({ command, why, rule }) => `\`${command}\` ${why} (rule ${rule})`);
  const more = findings.length - told.length;
  return told.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
