import { randomUUID } from 'node:crypto';
import { assertToolSession, type ToolSession } from '@ethosagent/core';

/** The part of a finished step of Mastra that `mastraRefusals` reads. */
export interface FinishedStep {
  toolCalls?: readonly unknown[];
  toolResults?: readonly unknown[];
}

/** Mastra uses such names for agents and workflows. */
const OF_MASTRA = /^(agent|workflow)-/;

/**
 * Makes a function for `onStepFinish` of an agent. Mastra itself answers a call of an unknown tool.
 * The function records such calls in the session. No call runs.
 *
 * @param session the session of the agent
 * @param tools all tools of the agent, also your own
 * @returns the function for `onStepFinish`
 * @throws `CONFIG_INVALID` for what is no session
 */
export function mastraRefusals(
  session: Pick<ToolSession, 'refuse'>,
  tools: Readonly<Record<string, unknown>>,
): (step: FinishedStep) => Promise<void> {
  assertToolSession('mastraRefusals', session, ['refuse']);
  return async ({ toolCalls = [], toolResults = [] }) => {
    const answered = new Set(toolResults.map((result) => partsOf(result).toolCallId));
    for (const { toolCallId = randomUUID(), toolName: name, args } of toolCalls.map(partsOf)) {
      if (name === undefined || Object.hasOwn(tools, name) || OF_MASTRA.test(name)) continue;
      // Mastra has tools of its own, such as those of its memory.
      if (answered.has(toolCallId)) continue;
      await session.refuse(
        { toolCallId, name, args },
        { code: 'not_available', error: `the agent has no tool ${name}` },
      );
    }
  };
}

function partsOf(chunk: unknown): { toolCallId?: string; toolName?: string; args?: unknown } {
  const { payload }: { payload?: unknown } = Object(chunk);
  const { toolCallId, toolName, args }: Record<string, unknown> = Object(payload);
  return {
    ...(typeof toolCallId === 'string' && { toolCallId }),
    ...(typeof toolName === 'string' && { toolName }),
    args,
  };
}
