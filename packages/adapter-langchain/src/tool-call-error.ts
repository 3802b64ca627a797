import type { PendingApproval, SessionResult } from '@ethosagent/core';
import type { FailureCause, ToolErrorCode } from '@ethosagent/types';

/**
 * A call that failed or was refused, where it was made without a tool call of a model. With one, the
 * answer is a `ToolMessage` whose status is `error`.
 */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly code: ToolErrorCode;
  /** Why, where it is known: switch on it. */
  override readonly cause: FailureCause | undefined;
  /** Set where the call did not run, and waits for a decision. */
  readonly approval?: PendingApproval;

  constructor({ text, result, approval }: SessionResult) {
    super(text);
    this.code = result.ok ? 'execution_failed' : result.code;
    this.cause = result.ok ? undefined : result.cause;
    if (approval !== undefined) this.approval = approval;
  }
}
