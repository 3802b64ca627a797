import type { QuarantinePrompt, ResultImage } from '@ethosagent/core';
import type { AgentLoopOptions, AgentUsage } from '../api.js';
import type { RetryPlan } from '../options.js';
import { usageOf } from '../usage.js';
import type { ModelAnswer } from './answer-builder.js';
import { askAgain } from './ask-again.js';
import type { FilePart } from './provider-prompt.js';

export interface AskReaderOptions {
  options: Pick<AgentLoopOptions, 'model' | 'modelSettings' | 'prices'>;
  retries: RetryPlan;
  remainingMs: () => number;
  charge: (usage: AgentUsage) => Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Asks the model of an agent as a reader: without tools, without history, and without provider
 * options, which could enable a search of the provider.
 *
 * @returns its text
 * @throws `MODEL_FAILED`; the reason of the signal
 */
export async function askReader(
  { system, text, images, signal }: Pick<QuarantinePrompt, 'system' | 'text' | 'images' | 'signal'>,
  { options, retries, remainingMs, charge, now }: AskReaderOptions,
): Promise<string> {
  const { model, modelSettings = {}, prices } = options;
  const { providerOptions: _, ...settings } = modelSettings;
  const usedBy = ({ usage, chars }: ModelAnswer) =>
    usageOf(usage, () => ({ input: system.length + text.length, output: chars }), prices);
  const answer = await askAgain(
    {
      model,
      system,
      messages: [{ role: 'user', content: [{ type: 'text', text }, ...images.map(imagePart)] }],
      definitions: [],
      settings,
      signal,
      idleMs: retries.idleMs,
      now,
    },
    {
      retries,
      remainingMs,
      tell: async () => {},
      said: { text: '', hasSources: false },
      unused: (answer) => charge(usedBy(answer)),
    },
  );
  await charge(usedBy(answer));
  return answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function imagePart({ data, mediaType }: ResultImage): FilePart {
  return { type: 'file', data, mediaType };
}
