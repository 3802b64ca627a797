import type { AuditCall, AuditEvent } from '@ethosagent/types';

/** An access, and its duration if it is known. */
export interface TimedAccess {
  event: AuditEvent;
  durationMs?: number;
}

/**
 * The most calls whose accesses are kept until the call ends. If there are more, the accesses of
 * the oldest call are dropped.
 */
const MAX_CALLS = 10_000;
const MAX_ACCESSES_OF_CALL = 1_000;

type CallKey = Pick<AuditCall, 'sessionId' | 'toolCallId'>;

export class AccessLog {
  readonly #calls = new Map<string, TimedAccess[]>();
  readonly #open = new WeakMap<AuditEvent, TimedAccess>();

  begin(event: AuditEvent): void {
    const key = keyOf(event);
    let accesses = this.#calls.get(key);
    if (accesses === undefined) {
      accesses = [];
      this.#calls.set(key, accesses);
      const [oldest] = this.#calls.keys();
      if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    }
    if (accesses.length >= MAX_ACCESSES_OF_CALL) return;
    const access: TimedAccess = { event };
    accesses.push(access);
    this.#open.set(event, access);
  }

  end(event: AuditEvent, durationMs: number): void {
    const access = this.#open.get(event);
    if (access !== undefined) access.durationMs = durationMs;
  }

  /** Returns the accesses of a call that has ended, and forgets them. */
  take(call: CallKey): TimedAccess[] {
    const key = keyOf(call);
    const accesses = this.#calls.get(key) ?? [];
    this.#calls.delete(key);
    return accesses;
  }
}

function keyOf({ sessionId, toolCallId }: CallKey): string {
  return JSON.stringify([sessionId, toolCallId]);
}
