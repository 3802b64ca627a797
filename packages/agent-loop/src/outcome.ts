import type { EthosError, FailureCause } from '@ethosagent/types';
import type { AgentUsage, TurnEnd } from './api.js';
import type { AgentRecord, StepRecord } from './journal/records.js';
import type { LoggedCall } from './journal/session-log.js';
import type { TurnLimits } from './options.js';

/** How a turn ends. */
export interface Outcome {
  end: TurnEnd;
  /** For a person. */
  message?: string;
  /** Why a turn failed. */
  error?: EthosError;
}

export const ABORTED: Outcome = {
  end: 'aborted',
  message: 'The turn was aborted; a new turn can go on.',
};
export const PAUSED: Outcome = {
  end: 'paused',
  message: 'Calls wait for approval: decide on them, then resume the turn.',
};
export const FAILED: Outcome = {
  end: 'failed',
  message: 'The turn broke off; resume goes on with it.',
};

/** The outcome of a turn whose last step has no calls. */
export function answered({ finish }: StepRecord): Outcome {
  if (finish === 'aborted') return ABORTED;
  if (finish !== 'length') return { end: 'answered' };
  return {
    end: 'answered',
    message: "The answer was cut off at the model's limit of output; ask it to go on.",
  };
}

/**
 * What a limit says that has ended a turn, for a person and for the model.
 *
 * @param limit with its unit
 * @param option the name of the limit in `limits`
 */
function limitText(limit: string, option: keyof TurnLimits): string {
  return `The turn ended at its limit of ${limit} (limits.${option}); a new turn can go on.`;
}

/** What is said when a turn has made its calls. */
export function callsText(maxCalls: number): string {
  return limitText(`${maxCalls} calls`, 'maxCalls');
}

export function overTime({ maxMs }: TurnLimits): Outcome {
  return { end: 'max_time', message: limitText(`${maxMs / 1_000} seconds`, 'maxMs') };
}

export function overSteps({ maxSteps }: TurnLimits): Outcome {
  return { end: 'max_steps', message: limitText(`${maxSteps} steps`, 'maxSteps') };
}

/** The outcome of a turn that has reached its limit of tokens or cost. */
export function overBudget(usage: AgentUsage, limits: TurnLimits): Outcome | undefined {
  const { maxTokens, maxCostUsd } = limits;
  if (usage.inputTokens + usage.outputTokens >= maxTokens) {
    return { end: 'max_tokens', message: limitText(`${maxTokens} tokens`, 'maxTokens') };
  }
  if (usage.costUsd >= maxCostUsd) {
    return { end: 'max_cost', message: limitText(`${maxCostUsd} US dollars`, 'maxCostUsd') };
  }
  return undefined;
}

/** The outcome of a turn whose prompt can't be made small enough. */
export function overContext(
  tokens: number,
  { limit, window, isAssumed }: { limit: number; window: number; isAssumed: boolean },
): Outcome {
  const advice = isAssumed
    ? `The window of the model is not known, so ${window} tokens are assumed: set context.window to what it takes.`
    : 'Go on in a new session, or with a larger model, or set context.window if the model takes more.';
  return {
    end: 'context_full',
    message: `The prompt has about ${tokens} tokens, and ${limit} fit. Nothing more of it can be dropped. ${advice}`,
  };
}

/** The outcome of a turn with a call beyond a limit. */
export function overCalls(
  { ordinal, repeats, call }: LoggedCall,
  { maxCalls, maxIdenticalCalls }: TurnLimits,
): Outcome | undefined {
  if (ordinal > maxCalls) {
    return { end: 'max_calls', message: callsText(maxCalls) };
  }
  if (repeats <= maxIdenticalCalls) return undefined;
  return {
    end: 'identical_calls',
    message: `The turn ended because the model called ${call.name} ${repeats} times in a row with the same arguments (limits.maxIdenticalCalls); a new turn can go on with other arguments.`,
  };
}

/** Returns the reason why a call of an ended turn did not run. */
export function causeOfEnd(end: TurnEnd): FailureCause {
  if (end === 'aborted') return 'CALL_ABORTED';
  return end === 'max_time' ? 'CALL_TIMED_OUT' : 'TURN_LIMIT';
}

type FinalEnd = Extract<AgentRecord, { kind: 'end' }>['end'];

/** The record of an end, after which a new turn can begin; `undefined` if this turn can go on. */
export function endRecord(turn: number, { end, message }: Outcome): AgentRecord | undefined {
  if (!isFinal(end)) return undefined;
  return { kind: 'end', turn, end, ...(message !== undefined && { message }) };
}

function isFinal(end: TurnEnd): end is FinalEnd {
  return end !== 'paused' && end !== 'failed';
}
