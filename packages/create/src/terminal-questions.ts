import type { Readable, Writable } from 'node:stream';
import { isCancel, select, text } from '@clack/prompts';
import type { CreateQuestions } from './create-project.js';
import { inputEnd } from './input-end.js';

/** Makes questions that are asked at a terminal. */
export function terminalQuestions(input: Readable, output: Writable): CreateQuestions {
  return {
    async choose(message, choices) {
      const options = Object.entries(choices).map(([value, about]) => ({
        value,
        label: `${value}: ${about}`,
      }));
      const over = inputEnd(input);
      const answer = await select({ message, options, input, output, signal: over.signal });
      over.release();
      return isCancel(answer) ? undefined : answer;
    },
    async text(message, { preset, problemOf }) {
      const over = inputEnd(input);
      const answer = await text({
        message,
        placeholder: preset,
        defaultValue: preset,
        validate: (typed) => (typed ? problemOf(typed) : undefined),
        input,
        output,
        signal: over.signal,
      });
      over.release();
      return isCancel(answer) ? undefined : answer;
    },
  };
}
