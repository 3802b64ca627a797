import type { CallDecision, PendingApproval } from '@ethosagent/core';
import {
  type Check,
  isAmount,
  isAnything,
  isBoolean,
  isObject,
  isOneOf,
  isShape,
  isString,
} from '@ethosagent/policy';

/** The value of an interrupt: a call that waits for a decision. */
export interface ToolInterrupt extends PendingApproval {
  type: 'tool_approval';
  /** Why the previous answer did not count. Absent if there was none. */
  problem?: string;
}

/**
 * The answer with which a graph is resumed. It names its question: a node that runs again gets all
 * its old answers again, and an approval must not count for another question.
 */
export interface ToolAnswer extends CallDecision {
  /** The `question` of the interrupt. */
  question: string;
}

const isGrant: Check<PendingApproval['capabilities']> = (
  value,
): value is PendingApproval['capabilities'] => isObject(value);

/** Whether the value of an interrupt asks about a call of a session. */
export const isToolInterrupt: Check<ToolInterrupt> = isShape(
  {
    type: isOneOf(['tool_approval']),
    toolCallId: isString,
    question: isString,
    toolName: isString,
    args: isAnything,
    input: isAnything,
    capabilities: isGrant,
    reason: isString,
    askedAt: isAmount,
  },
  { settings: isAnything, problem: isString },
);

const isAnswer = isShape(
  { question: isString, approved: isBoolean },
  {
    reason: isString,
    args: isAnything,
    always: isOneOf(['session', 'arguments', 'tool']),
    by: isString,
  },
);

/**
 * Returns a value with which a graph was resumed, if it is an answer to a question of a session.
 */
export function toolAnswerOf(value: unknown): ToolAnswer | undefined {
  if (!isObject(value)) return undefined;
  // Without `undefined`, as a checkpoint stores it.
  const given = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
  return isAnswer(given) ? given : undefined;
}
