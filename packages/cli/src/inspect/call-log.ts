import type { CallRow, HeldEvent } from './inspect-api.js';

const MAX_CALLS = 20_000;
/** How many calls without an answer are kept. If their process has ended, no answer will come. */
const MAX_OPEN = 1_000;

/** The calls, combined from their events. */
export class CallLog {
  readonly #maxCalls: number;
  readonly #open = new Map<string, CallRow>();
  #calls: CallRow[] = [];

  constructor(maxCalls = MAX_CALLS) {
    this.#maxCalls = maxCalls;
  }

  /** The newest calls, the newest first. */
  newest(limit = this.#maxCalls): CallRow[] {
    return this.#calls.slice(-limit).reverse();
  }

  /** Adds events. Returns the calls that are new or have changed. */
  add(events: readonly HeldEvent[]): CallRow[] {
    const changed = new Map<number, CallRow>();
    for (const held of events) {
      const row = this.#take(held);
      changed.set(row.id, row);
    }
    if (this.#calls.length > this.#maxCalls) this.#calls = this.#calls.slice(-this.#maxCalls);
    return [...changed.values()];
  }

  #take({ id, event }: HeldEvent): CallRow {
    const { sessionId, toolName, toolCallId, personalityId } = event;
    // Two logs may come from two processes with the same ids.
    const key = JSON.stringify([sessionId, toolName, toolCallId]);
    const time = Date.parse(event.time) || 0;
    let row = this.#open.get(key);
    if (row === undefined) {
      row = {
        id,
        sessionId,
        toolName,
        toolCallId,
        startedAt: time,
        accesses: 0,
        denied: 0,
        ...(personalityId !== undefined && { personalityId }),
      };
      this.#calls.push(row);
      this.#open.set(key, row);
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    }
    if (!('kind' in event)) {
      row.accesses += 1;
      if (event.decision === 'denied') row.denied += 1;
      return row;
    }
    const { outcome, cause, gate, approval, costUsd, durationMs } = event;
    row.startedAt = Math.min(row.startedAt, time - durationMs);
    row.endedAt = time;
    row.durationMs = durationMs;
    row.outcome = outcome;
    if (cause !== undefined) row.cause = cause;
    if (gate !== undefined) row.gate = gate;
    if (approval !== undefined) row.approval = approval;
    if (costUsd !== undefined) row.costUsd = costUsd;
    // A later call may have the same id.
    this.#open.delete(key);
    return row;
  }
}
