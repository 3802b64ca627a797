import { assertToolSession, type ToolSession } from '@ethosagent/core';
import { isObject, isThenable } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { AiTool } from './ai-tools.js';
import type { CallOptions } from './ai-types.js';
import { Approvals } from './approvals.js';

/** The functions that `toolApproval` of `ai` 7 takes, by the names of the tools. */
export type AiToolApproval = Record<
  string,
  (
    args: unknown,
    call: Pick<CallOptions, 'toolCallId' | 'messages'>,
  ) => Promise<{ type: 'user-approval'; reason?: string } | undefined>
>;

/**
 * Makes functions for `toolApproval` of `ai` 7. They ask for approval in the same cases as the
 * tools themselves, and add the reason to the request.
 *
 * @param session the session of the tools
 * @param tools the tools that `aiTools` returned for the session
 * @returns a function for each tool that may ask, for `toolApproval` of `ai`
 * @throws `CONFIG_INVALID` for a promise of the tools, or for something else than a session
 */
export function aiToolApproval(
  session: ToolSession,
  tools: Readonly<Record<string, AiTool>>,
): AiToolApproval {
  assertToolSession('aiToolApproval', session);
  // Of a promise, there would be no tool to ask about.
  if (!isObject(tools) || isThenable(tools)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'aiToolApproval: give the tools that aiTools returned, after await',
    );
  }
  const approvals = new Approvals(session, undefined);
  const perTool: AiToolApproval = Object.create(null);
  for (const [name, { needsApproval }] of Object.entries(tools)) {
    if (needsApproval === false) continue;
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
