import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentEvent } from '../api.js';
import type { RetryPlan } from '../options.js';
import { askModel, type ModelAnswer, type ModelRequest } from './ask-model.js';
import { ModelFailure, modelError, modelFailure } from './model-error.js';

export interface Asking {
  retries: RetryPlan;
  /** Milliseconds that the turn may still take. */
  remainingMs: () => number;
  /** Is told of text, and of attempts that are void, and waited for. */
  tell: (event: AgentEvent) => Promise<void>;
  /** What of the answer has come so far. */
  said: { text: string; hasSources: boolean };
}

/**
 * Asks the model, and asks again where that may help.
 *
 * @throws `MODEL_FAILED`; the reason of the signal when it fires
 */
export async function askAgain(request: ModelRequest, asking: Asking): Promise<ModelAnswer> {
  const { tell, said } = asking;
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
      assertSaid(answer);
      return answer;
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

/** Milliseconds to wait before the next attempt, or `undefined` for none. */
function delayOf(
  { isRetryable, retryAfterMs }: ModelFailure,
  attempt: number,
  { retries, remainingMs }: Asking,
): number | undefined {
  const { maxRetries, firstDelayMs, maxDelayMs } = retries;
  if (!isRetryable || attempt > maxRetries) return undefined;
  const backoff = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
  // Half of it at random, so that many who failed at once do not all come back at once.
  const delayMs = Math.ceil(retryAfterMs ?? backoff * (0.5 + Math.random() / 2));
  return delayMs < remainingMs() ? delayMs : undefined;
}

/** @throws `ModelFailure` for an invalid answer */
function assertSaid({ finish, parts, chars }: ModelAnswer): void {
  if (finish === 'content-filter') {
    throw new ModelFailure("the provider's content filter stopped the answer", {
      isRetryable: false,
    });
  }
  const isSaid = parts.some(
    (part) => part.type === 'call' || (part.type === 'text' && part.text.trim() !== ''),
  );
  if (isSaid) return;
  throw finish === 'length'
    ? new ModelFailure('the answer reached the limit of output before it said anything', {
        isRetryable: false,
      })
    : new ModelFailure(chars > 0 ? 'the answer says nothing' : 'the answer is empty', {
        isRetryable: true,
      });
}
