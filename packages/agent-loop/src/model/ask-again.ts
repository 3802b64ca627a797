import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentEvent } from '../api.js';
import type { RetryPlan } from '../options.js';
import type { ModelAnswer } from './answer-builder.js';
import { askModel, type ModelRequest } from './ask-model.js';
import { ModelFailure, modelError, modelFailure } from './model-error.js';

export interface Asking {
  retries: RetryPlan;
  /** How many milliseconds the turn may still take; 0 if its budget is used up. */
  remainingMs: () => number;
  /** Receives each answer that is complete, and that nobody can use. The provider bills it too. */
  unused: (answer: ModelAnswer) => Promise<void>;
  /** Receives text, and attempts that don't count. Awaited. */
  tell: (event: AgentEvent) => Promise<void>;
  /** The part of the answer that has arrived. */
  said: { text: string; hasSources: boolean };
}

/**
 * Asks the model, and asks again after a failure that may go away.
 *
 * @throws `MODEL_FAILED`; the reason of the signal when it fires
 */
export async function askAgain(request: ModelRequest, asking: Asking): Promise<ModelAnswer> {
  const { tell, said, unused } = asking;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await askModel(request, {
        async word(type, text) {
          if (type === 'text') said.text += text;
          await tell({ type, text });
        },
        source() {
          said.hasSources = true;
        },
      });
      const problem = problemOf(answer);
      if (problem === undefined) return answer;
      await unused(answer);
      throw problem;
    } catch (error) {
      request.signal.throwIfAborted();
      said.text = '';
      said.hasSources = false;
      const failure = modelFailure(error, request.now);
      const delayMs = delayOf(failure, attempt, asking);
      if (delayMs === undefined) throw modelError(failure, attempt);
      await tell({ type: 'retry', attempt, delayMs, reason: failure.message });
      await sleep(delayMs, undefined, { signal: request.signal });
    }
  }
}

/** How many milliseconds to wait before the next attempt; `undefined` for no further attempt. */
function delayOf(
  { isRetryable, retryAfterMs }: ModelFailure,
  attempt: number,
  { retries, remainingMs }: Asking,
): number | undefined {
  const { maxRetries, firstDelayMs, maxDelayMs } = retries;
  if (!isRetryable || attempt > maxRetries) return undefined;
  const backoff = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
  // Up to half of the delay is random, so that requests that failed together don't return together.
  const delayMs = Math.ceil(retryAfterMs ?? backoff * (0.5 + Math.random() / 2));
  return delayMs < remainingMs() ? delayMs : undefined;
}

/** Why nobody can use an answer. */
function problemOf({ finish, parts, chars }: ModelAnswer): ModelFailure | undefined {
  if (finish === 'content-filter') {
    return new ModelFailure("the provider's content filter stopped the answer", {
      isRetryable: false,
    });
  }
  const isSaid = parts.some(
    (part) => part.type === 'call' || (part.type === 'text' && part.text.trim() !== ''),
  );
  if (isSaid) return undefined;
  return finish === 'length'
    ? new ModelFailure('the answer reached the limit of output before it said anything', {
        isRetryable: false,
      })
    : new ModelFailure(chars > 0 ? 'the answer says nothing' : 'the answer is empty', {
        isRetryable: true,
      });
}
