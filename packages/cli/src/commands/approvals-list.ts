import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { isUndecided, openForApprovals } from '../named-call.js';
import { safeLine } from '../output.js';
import { unfinishedText } from '../unfinished-text.js';
import { findWaitingCalls, hasBegun } from '../waiting-calls.js';

/**
 * Lists the undecided calls of all sessions, and those that may have run. Exits with 1 if a session
 * can't be read.
 */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const { calls, problems } = await findWaitingCalls(await openForApprovals(context));
  const waiting = calls.filter(isUndecided);
  const unfinished = calls.filter(hasBegun);
  if (out.isJson) {
    out.json({
      waiting: waiting.map(({ sessionId, from, approval }, index) => ({
        number: index + 1,
        sessionId,
        from,
        approval,
      })),
      unfinished: unfinished.map(({ sessionId, begunAt, approval }) => ({
        sessionId,
        begunAt,
        approval,
      })),
      problems,
    });
  } else {
    out.table(
      waiting.map(({ sessionId, approval }, index) => [
        out.color.bold(String(index + 1)),
        new Date(approval.askedAt).toISOString(),
        safeLine(approval.personalityId ?? ''),
        out.color.bold(safeLine(approval.toolName)),
        safeLine(approval.toolCallId),
        safeLine(sessionId),
        safeLine(JSON.stringify(approval.args) ?? '', 100),
        ...(approval.cannotRun === undefined
          ? []
          : [out.color.red(safeLine(`can not run: ${approval.cannotRun}`, 200))]),
      ]),
    );
    if (waiting.length === 0) out.line('nothing waits');
    else
      out.note('"ethosagent approvals show NUMBER" shows a call, approve and refuse decide on it');
    for (const call of unfinished) out.note(unfinishedText(call));
    for (const problem of problems)
      out.note(`${out.color.red('error')}: ${safeLine(problem, 500)}`);
  }
  return problems.length === 0 ? EXIT.ok : EXIT.found;
}
