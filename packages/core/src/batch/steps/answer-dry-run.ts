import { shorten } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import type { SecretRedactor } from '../../results/redact.js';
import type { Step } from './step.js';

const SHOWN_CHARS = 500;
const SENSITIVE_KEY = /pass(word|phrase)|secret|token|api[-_]?key|authorization|credential|cookie/i;

/** Answers a dry run when the tool does not support dry runs itself. */
export const answerDryRun: Step = ({ entry, batch, args, redactor }) => {
  if (batch.input.host?.checksOnly !== undefined) return undefined;
  if (batch.facts.dryRun !== true || entry.tool.supportsDryRun === true) return undefined;
  return dryRunResult(entry.name, args, redactor);
};

function dryRunResult(
  toolName: string,
  args: unknown,
  redactor: SecretRedactor | undefined,
): ToolResult {
  const shown =
    JSON.stringify(args, (key, value: unknown) =>
      SENSITIVE_KEY.test(key) ? '[redacted]' : typeof value === 'bigint' ? `${value}n` : value,
    ) ?? 'no arguments';
  // Half a secret would not be found any more.
  const short = shorten(redactor?.redact(shown) ?? shown, SHOWN_CHARS);
  return { ok: true, value: `[dry-run] ${toolName} would be called with ${short}` };
}
