import type { PendingApproval, SessionResult } from '@ethosagent/core';
import type { FailureCause, ToolErrorCode } from '@ethosagent/types';

/** A call that failed or was refused. Mastra makes a `tool-error` of it, and the run goes on. */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly toolCallId: string;
  readonly code: ToolErrorCode;
  /** Why, where it is known: switch on it. */
  override readonly cause: FailureCause | undefined;
  /** Set where the call did not run, and waits for a decision. */
  readonly approval?: PendingApproval;

  /** @param message what the model reads */
  constructor(message: string, { toolCallId, code, cause, approval }: ToolCallFailure) {
    super(message);
    this.toolCallId = toolCallId;
    this.code = code;
    this.cause = cause;
    if (approval !== undefined) this.approval = approval;
  }
}

interface ToolCallFailure {
  toolCallId: string;
  code: ToolErrorCode;
  cause?: FailureCause | undefined;
  approval?: PendingApproval | undefined;
}

/** The error of a result that is one. */
export function errorOf({ toolCallId, text, result, approval }: SessionResult): ToolCallError {
  return new ToolCallError(text, {
    toolCallId,
    code: result.ok ? 'execution_failed' : result.code,
    cause: result.ok ? undefined : result.cause,
    approval,
  });
}
