import type { AuditApproval, ToolResult } from '@ethosagent/types';
import type { AgentLoopOptions } from './api.js';
import type { LoggedCall } from './journal/session-log.js';
import { refusing } from './refusing.js';

/** The answer to a call that the loop answers itself. */
export interface LoopAnswer {
  logged: LoggedCall;
  result: ToolResult;
  /** Who refused it. */
  approval?: AuditApproval | undefined;
  /** Tools that the model is told about from now on. */
  found?: string[];
}

/**
 * Records calls that the loop answers itself, in the same place as all calls. They go through no
 * gate, and nothing runs.
 *
 * @returns the answers; if one can't be recorded, the model gets that error instead
 */
export async function recordAnswers(
  answers: readonly LoopAnswer[],
  {
    options: { tools, personality, identity },
    ...where
  }: {
    options: Pick<AgentLoopOptions, 'tools' | 'personality' | 'identity'>;
    sessionId: string;
    currentTurn: number;
    messageCount: number;
  },
): Promise<readonly LoopAnswer[]> {
  if (answers.length === 0) return answers;
  const byId = new Map(answers.map((answer) => [answer.logged.call.id, answer]));
  const results = await tools.execute(
    answers.map(({ logged: { call } }) => ({
      toolCallId: call.id,
      name: call.name,
      args: structuredClone(call.input),
    })),
    {
      ...identity,
      ...where,
      ...(personality !== undefined && { personality }),
      // The record is not shortened.
      resultBudgetChars: Number.MAX_SAFE_INTEGER,
      // Calls that an aborted turn leaves open are recorded too, so this signal never fires.
      abortSignal: new AbortController().signal,
      protections: 'none',
      host: refusing(({ toolCallId }) => {
        const { result, approval } = byId.get(toolCallId) ?? {};
        return result && { result, ...(approval !== undefined && { approval }) };
      }),
    },
  );
  return answers.map((answer, index) => {
    const result = results[index]?.result;
    const isLost = result?.ok === false && result.cause === 'AUDIT_FAILED';
    return isLost ? { ...answer, result } : answer;
  });
}
