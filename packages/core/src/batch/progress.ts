import { discard, truncateToBudget } from '@ethosagent/policy';
import type { ToolProgressEvent } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import { detached } from '../results/trim.js';

const AUDIENCES: ReadonlySet<unknown> = new Set(['internal', 'user', 'dashboard']);

/** Events that one call may send. Later ones are dropped. */
export const MAX_EVENTS = 10_000;
/** Characters of a message that are passed on. */
export const MAX_MESSAGE_CHARS = 2_000;

/**
 * The `emit` of one call: events are completed, redacted, cut and passed on while the call lasts,
 * up to `MAX_EVENTS` of them. An event that is malformed is dropped, and a listener that throws is
 * not the tool's problem.
 */
export function createEmit(
  toolName: string,
  scope: CallScope,
  listener: ((event: ToolProgressEvent) => void) | undefined,
): (event: ToolProgressEvent) => void {
  let sent = 0;
  return (event) => {
    if (listener === undefined || scope.ended || sent >= MAX_EVENTS) return;
    try {
      const { message, percent, audience } = event;
      if (typeof message !== 'string') return;
      sent++;
      const returned: unknown = listener({
        type: 'progress',
        toolName,
        message: shorten(scope.redactor?.redact(message) ?? message),
        ...(typeof percent === 'number' &&
          Number.isFinite(percent) && { percent: Math.min(100, Math.max(0, percent)) }),
        audience: audience !== undefined && AUDIENCES.has(audience) ? audience : 'internal',
      });
      discard(returned);
    } catch {
      // Neither a hostile event nor a broken listener harms the call.
    }
  };
}

function shorten(message: string): string {
  const short = truncateToBudget(message, MAX_MESSAGE_CHARS);
  return short === message ? message : detached(short);
}
