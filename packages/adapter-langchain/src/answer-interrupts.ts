import type { CallDecision } from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import { INTERRUPT, type Interrupt, isInterrupted } from '@langchain/langgraph';
import {
  isToolInterrupt,
  type ToolAnswer,
  type ToolInterrupt,
  toolAnswerOf,
} from './tool-interrupt.js';

/**
 * Answers the interrupts of a run that ask about calls of a session. It ignores other interrupts;
 * answer those yourself.
 *
 * @param result the result of `invoke`, a chunk of a stream, or a list of interrupts
 * @param decide called for each interrupt of a tool of a session; returns the decision
 * @returns the answers by the ids of their interrupts, for `new Command({ resume })`
 * @throws `APPROVAL_INVALID` if `decide` gives no decision, since the graph would ask again without
 * end; and the errors of `decide`
 */
export async function answerInterrupts(
  result: unknown,
  decide: (interrupt: ToolInterrupt) => CallDecision | Promise<CallDecision>,
): Promise<Record<string, ToolAnswer>> {
  const answers: Record<string, ToolAnswer> = {};
  for (const { id, value } of interruptsOf(result)) {
    if (id === undefined || !isToolInterrupt(value)) continue;
    const { question, toolName } = value;
    const answer = toolAnswerOf({ ...(await decide(value)), question });
    if (answer === undefined) {
      throw new EthosError(
        'APPROVAL_INVALID',
        `the decision on ${toolName} does not count; give { approved: true } or { approved: false }, and of reason, args, always and by what you need`,
      );
    }
    answers[id] = answer;
  }
  return answers;
}

function interruptsOf(result: unknown): readonly Interrupt<unknown>[] {
  if (Array.isArray(result)) return result;
  return isInterrupted(result) ? result[INTERRUPT] : [];
}
