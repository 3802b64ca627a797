import { markUntrusted } from '@ethosagent/core';
import type { StoredTurn, TurnStore } from '@ethosagent/types';

/** Characters of an answer that is kept, and told to the turn after it. */
export const MAX_ANSWER_CHARS = 100_000;

/**
 * The prompt of a turn that comes after others: with their answers, which nobody can vouch for. Of a
 * turn that has begun the journal has the prompt.
 */
export async function withAnswers(
  turns: TurnStore,
  turn: StoredTurn,
): Promise<Pick<StoredTurn, 'prompt' | 'untrusted'>> {
  const { prompt, untrusted, after } = turn;
  if (after.length === 0) return { prompt, untrusted };
  const answers = await Promise.all(
    after.map(async (id) => {
      const before = await turns.get(id);
      const { state = 'gone', message = '', answer = message } = before ?? {};
      const marked = markUntrusted(answer, { source: `turn:${id}`, tool: 'turn' });
      return `[Answer of a turn that is ${state}]\n${marked}`;
    }),
  );
  return { prompt: [prompt, ...answers].join('\n\n'), untrusted: true };
}
