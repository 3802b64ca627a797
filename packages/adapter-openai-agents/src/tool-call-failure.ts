import type { FailureCause, ToolErrorCode, ToolResult } from '@ethosagent/types';

/** A call that failed, as the framework's spans and error functions see it. */
export class ToolCallFailure extends Error {
  override name = 'ToolCallFailure';
  readonly code: ToolErrorCode;
  /** The code of the error behind it, where there is one. */
  override readonly cause: FailureCause | undefined;

  /** @param text what the model reads */
  constructor(result: Extract<ToolResult, { ok: false }>, text: string) {
    super(text);
    this.code = result.code;
    this.cause = result.cause;
  }
}
