import { basename } from 'node:path';
import type { AuditLogReader } from '@ethosagent/audit';
import { parseUrl } from '@ethosagent/policy';
import type { EventPage, EventQuery, HeldEvent } from './inspect-api.js';

const MAX_EVENTS = 100_000;
const MAX_PAGE = 1_000;

/** The newest events in the logs of a home, updated as they are written. */
export class EventStore {
  readonly #reader: Pick<AuditLogReader, 'read'>;
  readonly #maxEvents: number;
  #events: HeldEvent[] = [];
  #last = 0;
  #reading: Promise<HeldEvent[]> | undefined;

  constructor(reader: Pick<AuditLogReader, 'read'>, maxEvents = MAX_EVENTS) {
    this.#reader = reader;
    this.#maxEvents = maxEvents;
  }

  /** How many events are held, and how many older ones were dropped. */
  get size(): { held: number; older: number } {
    return { held: this.#events.length, older: this.#last - this.#events.length };
  }

  /** The id of the newest event; 0 if there is none. */
  get newest(): number {
    return this.#last;
  }

  /** Reads and returns the new events. Callers at the same time get the same result. */
  refresh(): Promise<HeldEvent[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The events that match, the newest first. */
  search({ upTo = this.#last, offset = 0, limit = MAX_PAGE, ...query }: EventQuery): EventPage {
    const matches = matcher(query);
    const events: HeldEvent[] = [];
    let total = 0;
    const size = Math.min(limit, MAX_PAGE);
    for (let at = this.#events.length - 1; at >= 0; at -= 1) {
      const held = this.#events[at];
      if (held === undefined || held.id > upTo || !matches(held)) continue;
      if (total >= offset && events.length < size) events.push(held);
      total += 1;
    }
    return { total, upTo, events };
  }

  async #read(): Promise<HeldEvent[]> {
    const found: HeldEvent[] = [];
    for await (const { log, seq, event } of this.#reader.read()) {
      this.#last += 1;
      found.push({ id: this.#last, log: basename(log), seq, event });
      // So a long history is not held in memory twice.
      if (found.length > 2 * this.#maxEvents) found.splice(0, found.length - this.#maxEvents);
    }
    if (found.length > 0) this.#events = [...this.#events, ...found].slice(-this.#maxEvents);
    return found;
  }
}

/** A function that tells whether an event matches a query. */
function matcher({ text, session, tool, call, host, decision, kind }: EventQuery) {
  const words = text?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const wantedHost = host?.toLowerCase();
  return ({ event, log }: HeldEvent): boolean => {
    if (session !== undefined && event.sessionId !== session) return false;
    if (tool !== undefined && event.toolName !== tool) return false;
    if (call !== undefined && event.toolCallId !== call) return false;
    const isCall = 'kind' in event;
    if (kind !== undefined && (kind === 'call') !== isCall) return false;
    if (decision !== undefined && decisionOf(event) !== decision) return false;
    if (wantedHost !== undefined) {
      if (isCall || parseUrl(event.target)?.hostname !== wantedHost) return false;
    }
    if (words.length === 0) return true;
    const whole = `${log} ${JSON.stringify(event)}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
}

/**
 * A call that ran was allowed. A call that a gate answered, and an access that was refused, were
 * denied.
 */
function decisionOf(event: HeldEvent['event']): 'allowed' | 'denied' {
  if ('decision' in event) return event.decision;
  return event.gate === undefined ? 'allowed' : 'denied';
}
