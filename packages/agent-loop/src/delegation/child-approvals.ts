import { answerOfHost } from '@ethosagent/core';
import type { AgentLoopOptions } from '../api.js';
import type { ChildTurn } from './child-turn.js';

const CAN_NOT_WAIT =
  'a sub-agent can not wait for approval; leave this to the agent that gave you the task, and say so in your answer';

/** Asks the approver of the agent above. The answer comes at once or not at all. */
export function approveForChild(approve: AgentLoopOptions['approve']): ChildTurn['approve'] {
  return async (request) => {
    const decision = await answerOfHost(approve, request);
    return decision === 'later' ? { approved: false, reason: CAN_NOT_WAIT } : decision;
  };
}
