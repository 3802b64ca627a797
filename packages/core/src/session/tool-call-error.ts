import type { FailureCause, ToolErrorCode } from '@ethosagent/types';
import { modelText } from './mark-result.js';
import type { PendingApproval, SessionResult } from './session-api.js';

/**
 * A call of a session that failed or was refused, for frameworks whose tools throw. Its message and
 * its text are what the model reads.
 */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly toolCallId: string;
  readonly code: ToolErrorCode;
  /** Why it failed, if that is known. Switch on it. */
  override readonly cause: FailureCause | undefined;
  /** Present if the call did not run and waits for a decision. */
  readonly approval?: PendingApproval;

  /**
   * The error of a failed call, for frameworks that expect a tool to throw.
   *
   * @param call its id, its result, the text for the model, and the approval that it waits for
   */
  constructor({ toolCallId, result, text, approval }: FailedCall) {
    super(text ?? modelText(result));
    this.toolCallId = toolCallId;
    this.code = result.ok ? 'execution_failed' : result.code;
    this.cause = result.ok ? undefined : result.cause;
    if (approval !== undefined) this.approval = approval;
  }

  /** Without the name of the class, since some frameworks show this text to the model. */
  override toString(): string {
    return this.message;
  }
}

/** The answer to a call, as a session gives it. */
export type FailedCall = Pick<SessionResult, 'toolCallId' | 'result'> &
  Partial<Pick<SessionResult, 'text' | 'approval'>>;
