import { discard, truncateToBudget } from '@ethosagent/policy';
import type { ToolProgressEvent } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import { detached } from '../results/trim.js';

const AUDIENCES: ReadonlySet<unknown> = new Set(['internal', 'user', 'dashboard']);

/** The most events that one call may send. Later ones are dropped. */
export const MAX_EVENTS = 10_000;
/** The most characters of a message that are passed on. */
export const MAX_MESSAGE_CHARS = 2_000;

/**
 * Makes the `emit` of one call. While the call lasts, events are completed, redacted, cut and
 * passed on, up to `MAX_EVENTS` of them. A malformed event is dropped. The tool never sees what a
 * listener throws.
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
      // A hostile event or a listener that throws does not harm the call.
    }
  };
}

function shorten(message: string): string {
  const short = truncateToBudget(message, MAX_MESSAGE_CHARS);
  return short === message ? message : detached(short);
}
