import type { CallDecision } from '@ethosagent/core';
import { INTERRUPT, type Interrupt, isInterrupted } from '@langchain/langgraph';
import { isToolInterrupt, type ToolAnswer, type ToolInterrupt } from './tool-interrupt.js';

/**
 * Answers the interrupts of a run that ask about calls of a session. It ignores other interrupts;
 * answer those yourself.
 *
 * @param result the result of `invoke`, a chunk of a stream, or a list of interrupts
 * @param decide called for each interrupt of a tool of a session; returns the decision
 * @returns the answers by the ids of their interrupts, for `new Command({ resume })`
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
