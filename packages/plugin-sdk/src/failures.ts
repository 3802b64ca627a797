import {
  type ErrorCode,
  errorCodeOf,
  type ToolErrorCode,
  type ToolResult,
} from '@ethosagent/types';
import { err } from './tool-helpers.js';

/**
 * What to do next, by the code of an error; with the class of the result where it is not
 * `execution_failed`.
 */
export type FailureAnswers = Partial<
  Record<ErrorCode, string | readonly [code: ToolErrorCode, nextStep: string]>
>;

/** What is true whatever the tool does. */
const COMMON: FailureAnswers = {
  BINARY_NOT_ALLOWED: ['not_available', 'Go on without it: the operator has not allowed this.'],
  SANDBOX_UNAVAILABLE: ['not_available', 'Tell the user that this machine has no sandbox.'],
  QUOTA_EXCEEDED: ['not_available', 'Do not try again; tell the user that it is used up.'],
  AUDIT_FAILED: 'Tell the user that accesses can not be recorded, so none are allowed.',
  CALL_ENDED: 'Call the tool again.',
};

/**
 * Turns what an accessor refused into a result that a model can act on: the message of the error,
 * and what to do next.
 *
 * @param error what was thrown; told apart by its code
 * @param answers what to do next, beside what is said of quotas, sandboxes and the audit anyway
 * @returns `undefined` for any other error, which the caller should throw again
 */
export function failureOf(error: unknown, answers: FailureAnswers = {}): ToolResult | undefined {
  const code = errorCodeOf(error);
  const answer = code === undefined ? undefined : (answers[code] ?? COMMON[code]);
  if (answer === undefined || !(error instanceof Error)) return undefined;
  const [resultCode, nextStep] =
    typeof answer === 'string' ? (['execution_failed', answer] as const) : answer;
  const next = nextStep === '' ? '' : `. ${nextStep}`;
  return err(`${error.message.replace(/\.$/, '')}${next}`, resultCode);
}

/**
 * Runs the body of a tool; what an accessor refused becomes its result.
 *
 * @throws what has no answer, as it was
 */
export async function withFailures(
  answers: FailureAnswers,
  body: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await body();
  } catch (error) {
    const failure = failureOf(error, answers);
    if (failure === undefined) throw error;
    return failure;
  }
}
