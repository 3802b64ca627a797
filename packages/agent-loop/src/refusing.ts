import type { TurnHost } from '@ethosagent/core';

/**
 * The host of calls that are only written down, with answers that are there already. They don't run,
 * also where tools are behind something that does not know of `answers`: the gate refuses each.
 */
export function refusing(
  answers: NonNullable<TurnHost['answers']>,
): Required<Pick<TurnHost, 'answers' | 'gate'>> {
  return { answers, gate: () => ({ refuse: 'the call was answered without running' }) };
}
