import { type FailureAnswers, failureOf } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

const ANSWERS: FailureAnswers = {
  HOST_NOT_ALLOWED: 'Do not try again: use another source, or tell the user which host is needed.',
  SECRET_NOT_FOUND: ['not_available', 'Tell the user that the key has to be stored.'],
  SECRETS_UNAVAILABLE: ['not_available', 'Try once more later, or tell the user.'],
  SECRET_NOT_BOUND:
    'Tell the user that the host of the provider is not allowed, or that its key is for another one.',
  SECRET_NOT_DECLARED: 'Tell the user that the provider is set up wrong.',
  NETWORK_TIMEOUT: 'Try once more later, or use another source.',
  NETWORK_FAILED: 'Check the URL; try once more at most.',
  BODY_TOO_LARGE: 'Use another source; this one can not be read.',
  TOO_MANY_REDIRECTS: 'Use another URL; this one leads in a circle.',
};

/**
 * Turns an error of the network into a result that says what the model can do.
 *
 * @returns a failed result; `undefined` for any other error, which the caller should throw again
 */
export function fetchFailure(error: unknown): ToolResult | undefined {
  return failureOf(error, ANSWERS);
}
