import { callListener } from '@ethosagent/policy';
import type { AuditEvent, FailureCause, ToolErrorCode, ToolResult } from '@ethosagent/types';
import type { CallNarrowing } from './call-narrowing.js';

/** The error behind a failed call, only for the host. */
export interface CallError {
  toolCallId: string;
  toolName: string;
  sessionId: string;
  personalityId?: string;
  /** As in the result of the call. */
  code: ToolErrorCode;
  cause?: FailureCause;
  /**
   * What was thrown, with its stack and its own `cause`. If the call was stopped, the reason for
   * that. Nothing is redacted: a backend may have put a path or a secret into it.
   */
  error: unknown;
}

/**
 * Refuses a call with a reason, asks for its approval, narrows its reach, or does the last two
 * together. An object with `refuse` refuses, whatever else it has.
 */
export type BeforeCall =
  | { refuse: string }
  | { ask: string; narrow?: CallNarrowing }
  | { ask?: string; narrow: CallNarrowing };

/** A call that is about to run: it has passed its gates, and may still need approval. */
export interface CallBegin {
  toolCallId: string;
  /** The id of the call whose tool made this call; absent if the model made it. */
  parentCallId?: string;
  toolName: string;
  /** The arguments that will run, frozen. */
  args: unknown;
  sessionId: string;
  personalityId?: string;
}

/** A call with its answer. */
export interface CallEnd extends CallBegin {
  /** As the model gets it, but without its mark. A copy. */
  result: ToolResult;
  /** How many milliseconds the tool ran; 0 if it did not run. */
  durationMs: number;
}

/** Decides about a call. `undefined` leaves it unchanged. */
export type BeforeCallHook = (
  call: CallBegin,
) => BeforeCall | undefined | Promise<BeforeCall | undefined>;

/**
 * The hooks of a host, in the order in which they are called: `beforeCall`, `onAccess` for each
 * access, `afterCall`, `onError`.
 */
export interface CallHooks {
  /**
   * Called before each call that passed its gates. It may refuse the call, ask for its approval
   * first, or narrow its reach. It can't allow more. If there are several, they are called in
   * order. The first refusal ends this. Reasons to ask are joined, and the reach is what all of
   * them leave. If one throws, or returns something else, only this call is refused.
   */
  beforeCall?: BeforeCallHook | readonly BeforeCallHook[];
  /**
   * Called for each answer, and awaited. If it throws, the answer becomes a failure, although the
   * call has already done its work.
   */
  afterCall?: (call: CallEnd) => void | Promise<void>;
  /** Called for each access, as the audit log is. If it throws, the access is refused. */
  onAccess?: (event: AuditEvent) => void;
  /**
   * Called once for each failed call with an error behind it, right before its result is returned:
   * for what the tool threw or answered, for what a backend or a callback of the host threw, for a
   * time-out or an abort. It is not awaited. What it throws or returns is ignored.
   */
  onError?: (failed: CallError) => void | Promise<void>;
}

/**
 * Reports an error to a hook.
 *
 * @param hooks of the host
 * @param failed the call and its error
 */
export function tellError(hooks: CallHooks, failed: CallError): void {
  callListener(() => hooks.onError?.(failed));
}
