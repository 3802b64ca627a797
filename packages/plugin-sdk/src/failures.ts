import {
  type DenialCode,
  type ErrorCode,
  errorCodeOf,
  type ToolErrorCode,
  type ToolResult,
  withErrorBehind,
} from '@ethosagent/types';
import { err } from './tool-helpers.js';

/**
 * The next step for the model, by the code of an error: a text, or the class of the result and a
 * text. Without a class it is `execution_failed`, as it always is for a denial.
 */
export type FailureAnswers = { readonly [Code in DenialCode]?: string } & {
  readonly [Code in Exclude<ErrorCode, DenialCode>]?:
    | string
    | readonly [code: ToolErrorCode, nextStep: string];
};

/** Remedies that hold for every tool. Every denial has one. */
const COMMON = {
  HOST_NOT_ALLOWED: 'Do not try again: use another host, or tell the user which one is needed.',
  SECRET_NOT_DECLARED:
    'Tell the user: the tool has to declare this secret, and the personality to allow it.',
  PATH_NOT_REACHABLE:
    "Use a path inside the folders that this agent was given; the operator can add others to fs_reach in the personality's config.yaml.",
  BINARY_NOT_ALLOWED: 'Go on without it: the tool or the operator does not allow this.',
  SECRET_NOT_BOUND: 'Tell the user that the tool is set up wrong.',
  QUOTA_EXCEEDED: 'Do not try again; tell the user that it is used up.',
  SANDBOX_UNAVAILABLE: 'Tell the user that this machine has no sandbox.',
  ATTACHMENT_NOT_AVAILABLE: '',
  MEMORY_SCOPE_NOT_AVAILABLE: '',
  MEMORY_NOT_WRITABLE: '',
  PROCESS_NOT_FOUND: '',
  TOO_MANY_PROCESSES: 'Stop one first.',
  TOO_MANY_SERVICES: 'Close one first.',
  DELEGATION_LIMIT: '',
  DELEGATION_REFUSED: '',
  DELEGATION_NOT_FOUND: '',
  TOOL_NOT_CALLABLE: '',
  CALL_ENDED: 'Call the tool again.',
  AUDIT_FAILED: 'Tell the user that accesses can not be recorded, so none are allowed.',
} as const satisfies Record<DenialCode, string>;

/**
 * Turns an error of an accessor into a failed result that a model can act on: the message of the
 * error, and the next step. Every denial has such a result; for other codes, name the next step in
 * `answers`. The host's `onError` gets the error itself.
 *
 * @param error the error that was thrown; its code decides
 * @param answers the next step for other codes, or another one for a denial
 * @returns the failed result; `undefined` if no answer is for this error, which you should throw
 * again
 */
export function failureOf(error: unknown, answers: FailureAnswers = {}): ToolResult | undefined {
  const code = errorCodeOf(error);
  const known: FailureAnswers = { ...COMMON, ...answers };
  const answer = code === undefined ? undefined : known[code];
  if (answer === undefined || !(error instanceof Error)) return undefined;
  const [resultCode, nextStep] =
    typeof answer === 'string' ? (['execution_failed', answer] as const) : answer;
  const isSaid =
    (nextStep === COMMON.PATH_NOT_REACHABLE && saysWhy(error)) ||
    (nextStep === COMMON.SECRET_NOT_DECLARED && isDeclared(error));
  const next = nextStep === '' || isSaid ? '' : `. ${nextStep}`;
  const text = `${error.message.replace(/\.$/, '')}${next}`;
  return withErrorBehind(err(text, resultCode, code), error);
}

/**
 * Whether the denial of a path goes on after the path: it names a rule, such as the deny floor,
 * that no folder in `fs_reach` changes, and the next step.
 */
function saysWhy(error: Error): boolean {
  return 'path' in error && typeof error.path === 'string' && !error.message.endsWith(error.path);
}

/**
 * Whether a secret was denied by another rule than that the tool does not declare it. Such a denial
 * says itself who can change that.
 */
function isDeclared(error: Error): boolean {
  return 'rule' in error && error.rule !== 'not declared';
}

/**
 * Runs the body of a tool, and turns denials and the codes in `answers` into a failed result, as
 * `failureOf` does.
 *
 * @param answers the next step for other codes, or another one for a denial
 * @param body the body of the tool
 * @returns the result of the body, or the failed result
 * @throws any other error of the body, unchanged
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
