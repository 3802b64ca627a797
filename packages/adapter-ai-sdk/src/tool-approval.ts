import type { ToolSession } from '@ethosagent/core';
import type { AiTool } from './ai-tools.js';
import type { CallOptions } from './ai-types.js';
import { Approvals } from './approvals.js';

/** What `toolApproval` of `ai` 7 takes for tools of a session. */
export type AiToolApproval = Record<
  string,
  (
    args: unknown,
    call: Pick<CallOptions, 'toolCallId' | 'messages'>,
  ) => Promise<{ type: 'user-approval'; reason?: string } | undefined>
>;

/**
 * For `toolApproval` of `ai` 7: asks as the tools do by themselves, and gives the reason with the
 * request.
 *
 * @param session whose tools they are
 * @param tools what `aiTools` gave for the session
 * @returns a function for each tool, for `toolApproval` of `ai`
 */
export function aiToolApproval(
  session: ToolSession,
  tools: Readonly<Record<string, AiTool>>,
): AiToolApproval {
  const approvals = new Approvals(session, undefined);
  const perTool: AiToolApproval = Object.create(null);
  for (const name of Object.keys(tools)) {
    perTool[name] = async (args, { toolCallId, messages }) => {
      const question = await approvals.question(
        { toolCallId, name, args },
        { toolCallId, messages },
      );
      if (question === undefined) return undefined;
      if (question === 'answered') return { type: 'user-approval' };
      return { type: 'user-approval', reason: question.reason };
    };
  }
  return perTool;
}
