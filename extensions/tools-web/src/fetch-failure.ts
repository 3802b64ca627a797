import { err } from '@ethosagent/plugin-sdk';
import {
  type ErrorCode,
  errorCodeOf,
  type ToolErrorCode,
  type ToolResult,
} from '@ethosagent/types';

const NEXT_STEP: Partial<Record<ErrorCode, [code: ToolErrorCode, nextStep: string]>> = {
  HOST_NOT_ALLOWED: [
    'not_available',
    'Do not try again: use another source, or tell the user which host is needed.',
  ],
  QUOTA_EXCEEDED: ['not_available', 'Do not try again; tell the user.'],
  SECRET_NOT_FOUND: ['not_available', 'Tell the user that the key has to be stored.'],
  SECRET_NOT_BOUND: ['not_available', 'Tell the user that the provider is set up wrong.'],
  SECRET_NOT_DECLARED: ['not_available', 'Tell the user that the provider is set up wrong.'],
  AUDIT_FAILED: ['not_available', 'Tell the user that accesses can not be recorded.'],
  NETWORK_TIMEOUT: ['execution_failed', 'Try once more later, or use another source.'],
  NETWORK_FAILED: ['execution_failed', 'Check the URL; try once more at most.'],
  BODY_TOO_LARGE: ['execution_failed', 'Use another source; this one can not be read.'],
  TOO_MANY_REDIRECTS: ['execution_failed', 'Use another URL; this one leads in a circle.'],
  CALL_ENDED: ['execution_failed', 'Call the tool again.'],
};

/**
 * Turns what the network refused into a result that a model can act on.
 *
 * @returns `undefined` for an error that is not one of the network, which the caller should throw
 */
export function fetchFailure(error: unknown): ToolResult | undefined {
  const code = errorCodeOf(error);
  const [resultCode, nextStep] = (code && NEXT_STEP[code]) ?? [];
  if (resultCode === undefined || !(error instanceof Error)) return undefined;
  return err(`${error.message.replace(/\.$/, '')}. ${nextStep}`, resultCode);
}
