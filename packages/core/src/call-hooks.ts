import { callListener } from '@ethosagent/policy';
import type { AuditEvent, FailureCause, ToolErrorCode, ToolResult } from '@ethosagent/types';
import type { CallNarrowing } from './call-narrowing.js';

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

/**
 * Refuses a call, with the reason; or asks for its approval, narrows what it may reach, or both. A
 * refusal beside others counts.
 */
export type BeforeCall =
  | { refuse: string }
  | { ask: string; narrow?: CallNarrowing }
  | { ask?: string; narrow: CallNarrowing };

/** A call that is about to run: it has passed its gates, and may still need approval. */
export interface CallBegin {
  toolCallId: string;
  /** The id of the call that it comes from, where no model made it but a tool. */
  parentCallId?: string;
  toolName: string;
  /** The arguments that will run, frozen. */
  args: unknown;
  sessionId: string;
  personalityId?: string;
}

/** A call with its answer. */
export interface CallEnd extends CallBegin {
  /** As the model gets it, except for its mark. A copy. */
  result: ToolResult;
  /** Milliseconds from the begin of the tool to its end; 0 where it did not run. */
  durationMs: number;
}

/** Says what is to become of a call; nothing leaves it as it is. */
export type BeforeCallHook = (
  call: CallBegin,
) => BeforeCall | undefined | Promise<BeforeCall | undefined>;

/**
 * What a host has to say to a call, and what it is told of calls, in this order: `beforeCall`,
 * `onAccess` for each access, `afterCall`, `onError`.
 */
export interface CallHooks {
  /**
   * Asked before each call that passed its gates. What it gives refuses the call, has it approved
   * first, or narrows its reach; nothing it gives lets more. Of several, each is asked in their order:
   * the first refusal ends it, reasons to ask are joined, and what each leaves must be left by all. One
   * that throws, or gives what is none of these, refuses that call alone.
   */
  beforeCall?: BeforeCallHook | readonly BeforeCallHook[];
  /**
   * Told of each answer, and waited for. The answer of a call is a failure when it throws: what the
   * call did is done.
   */
  afterCall?: (call: CallEnd) => void | Promise<void>;
  /** Told of each access as the audit log is. The access is refused when it throws. */
  onAccess?: (event: AuditEvent) => void;
  /**
   * Told once of each failed call that has an error behind it, right before its result is there:
   * what the tool threw or answered in its place, what a backend or a callback of the host threw,
   * a time-out, an abort. Nobody waits for it; what it throws, and what it returns, is ignored.
   */
  onError?: (failed: CallError) => void | Promise<void>;
}

/**
 * Tells a hook of an error.
 *
 * @param hooks of the host
 * @param failed the call and its error
 */
export function tellError(hooks: CallHooks, failed: CallError): void {
  callListener(() => hooks.onError?.(failed));
}
