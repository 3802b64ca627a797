import { discard, truncateToBudget, visibleText } from '@ethosagent/policy';
import type { ToolProgressEvent } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import type { SecretRedactor } from '../results/redact.js';
import { detached } from '../results/trim.js';

const AUDIENCES: ReadonlySet<unknown> = new Set(['internal', 'user', 'dashboard']);

/** The most events that one call may send. Later ones are dropped. */
export const MAX_EVENTS = 10_000;
/** The most characters of a message that are passed on. */
export const MAX_MESSAGE_CHARS = 2_000;

/**
 * Makes the `emit` of one call. While the call lasts, events are completed, cleaned of what a person
 * would not see, redacted, cut and passed on, up to `MAX_EVENTS` of them. A malformed event is
 * dropped. The tool never sees what a listener throws.
 */
export function createEmit(
  toolName: string,
  scope: CallScope,
  listener: ((event: ToolProgressEvent) => void) | undefined,
): (event: ToolProgressEvent) => void {
  let sent = 0;
  /** The end of the messages so far that may be the start of a secret. */
  let begun = '';
  return (event) => {
    if (listener === undefined || scope.ended || sent >= MAX_EVENTS) return;
    try {
      const { message, percent, audience } = event;
      if (typeof message !== 'string') return;
      sent++;
      const piece = redactPiece(begun, cleaned(message, scope.redactor), scope.redactor);
      begun = piece.begun;
      const returned: unknown = listener({
        type: 'progress',
        toolName,
        message: shorten(piece.shown),
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

function cleaned(message: string, redactor: SecretRedactor | undefined): string {
  const visible = visibleText(message);
  if (redactor === undefined || visible === message) return visible;
  // A secret may have characters that are not visible. It is not found without them.
  return visibleText(redactor.redact(message));
}

/**
 * Redacts one of several messages, also a secret that lies across them. What may be the start of a
 * secret at its end is not shown.
 *
 * @param begun what the message before gave
 */
function redactPiece(
  begun: string,
  message: string,
  redactor: SecretRedactor | undefined,
): { shown: string; begun: string } {
  if (redactor === undefined) return { shown: message, begun };
  const whole = begun + message;
  const end = whole.length - redactor.begunAtEnd(whole);
  const found = redactor.find(whole);
  // The end of a secret that is there may also be the start of one.
  const shownEnd = found.some((each) => each.end > end) ? whole.length : end;
  const across = found.find(({ start, end }) => start < begun.length && end > begun.length);
  const shown = redactor.redact(whole.slice(across?.start ?? begun.length, shownEnd));
  const rest = whole.slice(shownEnd);
  return { shown: rest === '' ? shown : `${shown}…`, begun: rest };
}

function shorten(message: string): string {
  const short = truncateToBudget(message, MAX_MESSAGE_CHARS);
  return short === message ? message : detached(short);
}
