import type { DelegatedTask } from '@ethosagent/types';
import type { AgentLimits } from '../api.js';
import type { DelegatingTurn } from './child-turn.js';

/**
 * Returns the limits of a sub-agent: no more than its agent may use, than the turn has left, and
 * than the task asks for.
 */
export function childLimits(
  turn: Pick<DelegatingTurn, 'limits' | 'remaining'>,
  task: Pick<DelegatedTask, 'maxSteps' | 'timeoutMs'>,
  { outlivesTurn }: { outlivesTurn: boolean },
): AgentLimits {
  const { limits } = turn;
  const left = turn.remaining();
  const met = {
    ...limits,
    maxSteps: least(limits.maxSteps, task.maxSteps),
    maxMs: least(limits.maxMs, task.timeoutMs, outlivesTurn ? undefined : left.ms),
    maxTokens: least(limits.maxTokens, left.tokens),
    maxCostUsd: least(limits.maxCostUsd, left.costUsd),
  };
  return Object.fromEntries(Object.entries(met).filter(([, limit]) => limit !== undefined));
}

/** The smallest of the limits; `undefined` if there is none. */
function least(...values: (number | undefined)[]): number | undefined {
  const least = Math.min(...values.map((value) => value ?? Number.POSITIVE_INFINITY));
  // A loop accepts no limit of zero. This one ends at once.
  return least === Number.POSITIVE_INFINITY ? undefined : Math.max(least, Number.MIN_VALUE);
}
