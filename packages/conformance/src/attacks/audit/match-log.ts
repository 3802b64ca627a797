import type { AuditEvent } from '@ethosagent/types';
import type { ExpectedEvent } from './accesses.js';

/** What one access, begun in this order, must have left in the log. No two have the same target. */
export interface Begun {
  name: string;
  events: readonly [ExpectedEvent, ...ExpectedEvent[]];
  /** The tool waited for its end, so that all of it comes before whatever was begun later. */
  isAwaited: boolean;
  /** It was begun after its call had ended. */
  isLate: boolean;
}

/** Whether two events are of the same access, or the same hop of it. */
export function isSameAccess(
  a: Pick<AuditEvent, 'capability' | 'operation' | 'target'>,
  b: Pick<AuditEvent, 'capability' | 'operation' | 'target'>,
): boolean {
  return a.capability === b.capability && a.operation === b.operation && a.target === b.target;
}

/** Says how a log differs from what was begun; `undefined` when all is there once, in order. */
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

/** Events that must be there. What nobody waited for may end before its second hop. */
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
  // The end of the call may come before what nobody waited for was judged.
  return !isAwaited && event.decision === 'denied';
}

function show({ capability, operation, target, decision, reason }: AuditEvent): string {
  return `${capability} ${operation} ${JSON.stringify(target)} ${decision} (${reason})`;
}
