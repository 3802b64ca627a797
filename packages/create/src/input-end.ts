import type { Key } from 'node:readline';
import type { Readable } from 'node:stream';

/** The end of an input, for a question that is asked at it. */
export interface InputEnd {
  /** Fires at Ctrl-D, and when the input is closed. The question is then over. */
  signal: AbortSignal;
  /** Stops looking. Called once the question is over. */
  release(): void;
}

/**
 * Looks out for the end of an input. A prompt does not tell of it, and would wait for ever.
 *
 * @param input a terminal that a prompt reads
 * @returns the signal for the prompt, and what ends the looking
 */
export function inputEnd(input: Readable): InputEnd {
  const controller = new AbortController();
  const onKey = (_: unknown, { ctrl, name }: Key) => {
    if (ctrl === true && name === 'd') controller.abort();
  };
  const onEnd = () => controller.abort();
  input.on('keypress', onKey).on('end', onEnd);
  return {
    signal: controller.signal,
    release: () => void input.off('keypress', onKey).off('end', onEnd),
  };
}
