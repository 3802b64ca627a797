import { markUntrusted } from '@ethosagent/core';
import { takeStart } from '@ethosagent/policy';
import type { StoredTurn, TurnStore } from '@ethosagent/types';

/** How many characters of an answer are kept and given to the turn after it. */
export const MAX_ANSWER_CHARS = 100_000;

/** How many characters of answers one turn gets in all. */
export const MAX_TOLD_CHARS = 200_000;

/**
 * The prompt of a turn that follows others. It contains their answers, marked as untrusted. If the
 * turn has already begun, its journal has the prompt.
 */
export async function withAnswers(
  turns: TurnStore,
  turn: StoredTurn,
): Promise<Pick<StoredTurn, 'prompt' | 'untrusted'>> {
  const { prompt, untrusted, after } = turn;
  if (after.length === 0) return { prompt, untrusted };
  const found = await Promise.all(
    after.map(async (id) => {
      const { state = 'gone', message = '', answer = message } = (await turns.get(id)) ?? {};
      return { id, state, answer };
    }),
  );
  const shares = divideAmong(
    found.map(({ answer }) => answer.length),
    MAX_TOLD_CHARS,
  );
  const answers = found.map(({ id, state, answer }, index) => {
    const told = takeStart(answer, shares[index] ?? 0);
    const marked = markUntrusted(told, { source: `turn:${id}`, tool: 'turn' });
    const cut = answer.length - told.length;
    const rest = cut === 0 ? '' : `\n[${cut} more characters of it were left out]`;
    return `[Answer of a turn that is ${state}]\n${marked}${rest}`;
  });
  return { prompt: [prompt, ...answers].join('\n\n'), untrusted: true };
}

/**
 * Divides `total` among texts: short ones stay whole, and the others get equal shares of the rest.
 */
function divideAmong(lengths: readonly number[], total: number): number[] {
  const shares: number[] = [];
  let left = total;
  const shortestFirst = [...lengths.keys()].sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  for (const [nth, index] of shortestFirst.entries()) {
    const share = Math.min(lengths[index] ?? 0, Math.floor(left / (lengths.length - nth)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
