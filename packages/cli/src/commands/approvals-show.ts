import { canonicalJson } from '@ethosagent/policy';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { grantLines } from '../grant-lines.js';
import { namedCall } from '../named-call.js';
import { safeLine, safeText } from '../output.js';

/** Shows a waiting call: what it would run, why it is asked about, and what it may touch. */
export async function run(input: CommandInput): Promise<number> {
  const { out, previews } = input.context;
  const { sessionId, from, approval, sources, begunAt, runtime } = await namedCall(input);
  if (out.isJson) {
    out.json({ sessionId, from, approval, sources, ...(begunAt !== undefined && { begunAt }) });
    return EXIT.ok;
  }
  const { toolCallId, toolName, personalityId = '', reason, args, input: proposed } = approval;
  out.line(`${out.color.bold(safeLine(toolName))}: ${safeText(reason)}`);
  out.line(safeText(JSON.stringify(args, null, 2) ?? ''));
  if (canonicalJson(args) !== canonicalJson(proposed)) {
    out.line(`as the model wrote it: ${safeText(JSON.stringify(proposed) ?? '')}`);
  }
  out.table(
    [
      ['call', toolCallId],
      ['session', sessionId],
      ['personality', personalityId],
      ['asked', new Date(approval.askedAt).toISOString()],
      ...grantLines(approval.capabilities),
      ...sources.map(({ source, tool }) => ['untrusted', `${source} (${tool})`]),
      ...(approval.cannotRun === undefined ? [] : [['can not run', approval.cannotRun]]),
      ...(approval.decision === undefined ? [] : [['decided', decisionText(approval.decision)]]),
      ...(begunAt === undefined
        ? []
        : [['may have run', `it began at ${new Date(begunAt).toISOString()}; no end is recorded`]]),
    ].map(([what = '', which = '']) => [`  ${out.color.cyan(what)}`, safeLine(which, 2_000)]),
  );
  const preview =
    approval.decision === undefined &&
    begunAt === undefined &&
    (await previews.of(approval, runtime));
  if (typeof preview === 'string') {
    for (const line of preview.trimEnd().split('\n')) out.line(out.diffLine(line));
  }
  return EXIT.ok;
}

function decisionText({ approved, by }: { approved: boolean; by?: string }): string {
  return `${approved ? 'approved' : 'refused'}${by === undefined ? '' : ` by ${by}`}`;
}
