import {
  type PendingApproval,
  pendingCalls,
  type SessionBatchOptions,
  type SessionResult,
  ToolCallError,
  type ToolSession,
} from '@ethosagent/core';
import { Turns } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';

/** Makes sure that a call runs once, even if it is resumed twice. */
const turns = new Turns();

/** The session and the options of a call. */
export interface CallRun {
  session: ToolSession;
  options: SessionBatchOptions;
}

export async function runCall(
  call: ToolCall,
  { session, options }: CallRun,
): Promise<SessionResult> {
  const [answer] = await session.execute([call], options);
  if (answer === undefined) throw new TypeError('the session has no answer to the call');
  return answer;
}

/**
 * Continues a suspended call. Only the session knows whether somebody approved it: Mastra also
 * reads resume data from the arguments of the model, and prefers those.
 *
 * @throws `ToolCallError` if the call no longer waits
 */
export function resumeCall(
  call: ToolCall,
  run: CallRun & { reason: string | undefined },
): Promise<SessionResult> {
  const { session } = run;
  const refuse = async (reason: string) => {
    const approval = await waitingFor(call, session);
    if (approval === undefined || approval.decision !== undefined) return;
    // Somebody else may have decided meanwhile. That is fine too.
    await session.decide(approval, { approved: false, reason }).catch(() => {});
  };
  return turns.run(JSON.stringify([session.id, call.toolCallId]), async () => {
    const approval = await waitingFor(call, session);
    if (approval === undefined) throw usedUp(call);
    if (approval.decision === undefined) {
      await refuse(run.reason ?? 'nobody approved it; an approval goes through the session');
    }
    const answer = await runCall(call, run);
    if (answer.approval === undefined) return answer;
    // The approval was for something else than the call asks now. The new question is refused: if a
    // loop resumes the run, it would otherwise be asked for ever.
    await refuse('the approval was given for something else');
    return runCall(call, run);
  });
}

async function waitingFor(
  { toolCallId }: ToolCall,
  session: ToolSession,
): Promise<PendingApproval | undefined> {
  return (await pendingCalls(session)).find((each) => each.toolCallId === toolCallId);
}

function usedUp({ toolCallId }: ToolCall): ToolCallError {
  const error = 'the approval was used already; where the result is missing, call again';
  return new ToolCallError({
    toolCallId,
    result: { ok: false, code: 'not_available', error, cause: 'APPROVAL_INVALID' },
  });
}
