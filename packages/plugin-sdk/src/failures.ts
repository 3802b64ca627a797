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
 * What to do next, by the code of an error; with the class of the result where it is not
 * `execution_failed`. A denial is always `execution_failed`.
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
 * Turns what an accessor refused into a result that a model can act on: the message of the error,
 * and what to do next. Every denial becomes one; the host's `onError` gets the error itself.
 *
 * @param error what was thrown; told apart by its code
 * @param answers what to do next, for further codes, or instead of what is said of denials anyway
 * @returns `undefined` for any other error, which the caller should throw again
 */
export function failureOf(error: unknown, answers: FailureAnswers = {}): ToolResult | undefined {
  const code = errorCodeOf(error);
  const known: FailureAnswers = { ...COMMON, ...answers };
  const answer = code === undefined ? undefined : known[code];
  if (answer === undefined || !(error instanceof Error)) return undefined;
  const [resultCode, nextStep] =
    typeof answer === 'string' ? (['execution_failed', answer] as const) : answer;
  const isSaid = nextStep === COMMON.PATH_NOT_REACHABLE && saysWhy(error);
  const next = nextStep === '' || isSaid ? '' : `. ${nextStep}`;
  const text = `${error.message.replace(/\.$/, '')}${next}`;
  return withErrorBehind(err(text, resultCode, code), error);
}

/**
 * Whether the denial of a path goes on after the path: it names a rule, such as the deny floor, that
 * no folder in `fs_reach` changes, and the next step.
 */
function saysWhy(error: Error): boolean {
  return 'path' in error && typeof error.path === 'string' && !error.message.endsWith(error.path);
}

/**
 * Runs the body of a tool. What an accessor refused becomes a failed result.
 *
 * @param answers which codes are answered, and how
 * @param body of the tool
 * @returns the result of the body, or the failed one
 * @throws what the body throws and no answer is for, unchanged
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
