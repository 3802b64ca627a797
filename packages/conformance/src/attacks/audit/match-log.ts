import type { AuditEvent } from '@ethosagent/types';
import type { ExpectedEvent } from './accesses.js';

/**
 * An access that has begun, with the events that it must have written to the log. Accesses are in
 * the order in which they began. No two have the same target.
 */
export interface Begun {
  name: string;
  events: readonly [ExpectedEvent, ...ExpectedEvent[]];
  /**
   * Whether the tool waited for its end, so that all its events come before those of later
   * accesses.
   */
  isAwaited: boolean;
  /** Whether it began after its call had ended. */
  isLate: boolean;
}

/** Whether two events belong to the same access, or to the same hop of it. */
export function isSameAccess(
  a: Pick<AuditEvent, 'capability' | 'operation' | 'target'>,
  b: Pick<AuditEvent, 'capability' | 'operation' | 'target'>,
): boolean {
  return a.capability === b.capability && a.operation === b.operation && a.target === b.target;
}

/**
 * Returns how a log differs from the accesses that began; `undefined` if every event is there once,
 * in order.
 */
export function differenceOf(
  begun: readonly Begun[],
  log: readonly AuditEvent[],
): string | undefined {
  const matched = begun.map(() => 0);
  const isDone = (index: number) => (matched[index] ?? 0) >= required(begun[index]);
  for (const event of log) {
    const index = begun.findIndex((access, at) => isNext(access, matched[at] ?? 0, event));
    if (index < 0) return `not begun, doubled or decided otherwise: ${show(event)}`;
    matched[index] = (matched[index] ?? 0) + 1;
    const tooLate = begun.findIndex(({ isAwaited }, at) => at < index && isAwaited && !isDone(at));
    if (tooLate >= 0) return `${begun[tooLate]?.name} comes after ${show(event)}`;
    const tooEarly = begun[index]?.isAwaited && matched.slice(index + 1).some((count) => count > 0);
    if (tooEarly) return `after what was begun later: ${show(event)}`;
  }
  const missing = begun.find((_, index) => !isDone(index));
  return missing === undefined ? undefined : `missing: ${missing.name}`;
}

/**
 * Returns how many events must be there. An access without `await` may end before its second hop.
 */
function required(access: Begun | undefined): number {
  return access?.isAwaited && !access.isLate ? access.events.length : 1;
}

function isNext(access: Begun, matched: number, event: AuditEvent): boolean {
  const { events, isAwaited, isLate } = access;
  const expected = events[matched];
  if (expected === undefined || (isLate && matched > 0) || !isSameAccess(expected, event)) {
    return false;
  }
  if (isLate) return event.decision === 'denied' && event.reason === 'call ended';
  const { decision, reason } = expected;
  if (event.decision === decision && (reason === undefined || event.reason === reason)) return true;
  // The call may have ended before an access that was not awaited was decided.
  return !isAwaited && event.decision === 'denied';
}

function show({ capability, operation, target, decision, reason }: AuditEvent): string {
  return `${capability} ${operation} ${JSON.stringify(target)} ${decision} (${reason})`;
}
