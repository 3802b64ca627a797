import type { CallDecision } from '@ethosagent/core';
import { INTERRUPT, type Interrupt, isInterrupted } from '@langchain/langgraph';
import { isToolInterrupt, type ToolAnswer, type ToolInterrupt } from './tool-interrupt.js';

/**
 * Answers what a run was interrupted for. Interrupts that are not of the tools of a session are left
 * to the caller.
 *
 * @param result what `invoke` gave, a chunk of a stream, or a list of interrupts
 * @param decide is asked about each interrupt of a tool of the session
 * @returns for `new Command({ resume })`: the answers by the ids of their interrupts
 */
export async function answerInterrupts(
  result: unknown,
  decide: (interrupt: ToolInterrupt) => CallDecision | Promise<CallDecision>,
): Promise<Record<string, ToolAnswer>> {
  const answers: Record<string, ToolAnswer> = {};
  for (const { id, value } of interruptsOf(result)) {
    if (id === undefined || !isToolInterrupt(value)) continue;
    answers[id] = { ...(await decide(value)), question: value.question };
  }
  return answers;
}

function interruptsOf(result: unknown): readonly Interrupt<unknown>[] {
  if (Array.isArray(result)) return result;
  return isInterrupted(result) ? result[INTERRUPT] : [];
}
