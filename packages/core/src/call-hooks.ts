import { callListener } from '@ethosagent/policy';
import type { FailureCause, ToolErrorCode } from '@ethosagent/types';

/** The error behind a failed call, for the host alone. */
export interface CallError {
  toolCallId: string;
  toolName: string;
  sessionId: string;
  personalityId?: string;
  /** As in the result of the call. */
  code: ToolErrorCode;
  cause?: FailureCause;
  /**
   * What was thrown, with its stack and its own `cause`; where the call was stopped, the reason.
   * Nothing is redacted from it: a backend may have put a path or a secret into it.
   */
  error: unknown;
}

/** What a host is told of calls. What a hook throws, and what it returns, is ignored. */
export interface CallHooks {
  /**
   * Told once of each failed call that has an error behind it, right before its result is there:
   * what the tool threw or answered in its place, what a backend or a callback of the host threw,
   * a time-out, an abort. Nobody waits for it.
   */
  onError?: (failed: CallError) => void | Promise<void>;
}

/** Tells a hook of an error. */
export function tellError(hooks: CallHooks, failed: CallError): void {
  callListener(() => hooks.onError?.(failed));
}
