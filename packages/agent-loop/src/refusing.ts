import type { TurnHost } from '@ethosagent/core';

/**
 * The host for calls that are only recorded, and have their answers already. They never run: some
 * tools don't support `answers`, so the gate refuses every call as well.
 */
export function refusing(
  answers: NonNullable<TurnHost['answers']>,
): Required<Pick<TurnHost, 'answers' | 'gate'>> {
  return { answers, gate: () => ({ refuse: 'the call was answered without running' }) };
}
