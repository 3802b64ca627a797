import type { ToolProgressEvent } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import { discard } from '../rejections.js';

const AUDIENCES: ReadonlySet<unknown> = new Set(['internal', 'user', 'dashboard']);

/**
 * The `emit` of one call: events are completed, redacted and passed on while the call lasts. An
 * event that is malformed is dropped, and a listener that throws is not the tool's problem.
 */
export function createEmit(
  toolName: string,
  scope: CallScope,
  listener: ((event: ToolProgressEvent) => void) | undefined,
): (event: ToolProgressEvent) => void {
  return (event) => {
    if (listener === undefined || scope.ended) return;
    try {
      const { message, percent, audience } = event;
      if (typeof message !== 'string') return;
      const returned: unknown = listener({
        type: 'progress',
        toolName,
        message: scope.redactor?.redact(message) ?? message,
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
