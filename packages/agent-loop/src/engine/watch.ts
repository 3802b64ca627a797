import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertOptions,
  isAbortSignal,
  isCount,
  isObject,
  MAX_TIMER_MS,
  type OptionNames,
} from '@ethosagent/policy';
import type { TurnStore } from '@ethosagent/types';
import type { AgentEvent } from '../api.js';

/** An event in its stored form: an error is only its code and message. */
export type StoredAgentEvent =
  | Exclude<AgentEvent, { type: 'error' } | { type: 'done' }>
  | PlainEvent;

type PlainEvent =
  | { type: 'error'; error: { code: string; message: string } }
  | (Omit<Extract<AgentEvent, { type: 'done' }>, 'error'> & {
      error?: { code: string; message: string };
    });

/** An event of a turn, with its position in the session. */
export interface WatchedEvent {
  /** The position of the event. Pass it as `after` to get the events that follow it. */
  position: number;
  turnId: string;
  event: StoredAgentEvent;
}

export interface WatchOptions {
  /**
   * The position of the last event that the reader has. 0 when absent: begins with the first event
   * that is kept.
   */
  after?: number;
  /** Ends the watch. */
  signal?: AbortSignal;
  /** The milliseconds between two reads of the store while no event comes. 200 when absent. */
  pollMs?: number;
}

const isEvent = (value: unknown): value is StoredAgentEvent =>
  isObject(value) && typeof value.type === 'string';

const OPTIONS: OptionNames<WatchOptions> = {
  after: [isCount, 'a position, as events have it'],
  signal: [isAbortSignal, 'an AbortSignal, as `signal` of an AbortController'],
  pollMs: [
    (ms) => typeof ms === 'number' && ms > 0 && ms <= MAX_TIMER_MS,
    'a number of milliseconds above zero',
  ],
};

/**
 * Yields events until the signal fires or the reader stops.
 * @throws `CONFIG_INVALID` for an invalid option
 */
export async function* watchTurns(
  turns: TurnStore,
  sessionId: string,
  options: WatchOptions = {},
): AsyncGenerator<WatchedEvent, void, undefined> {
  assertOptions('watch', options, OPTIONS);
  const { after = 0, signal, pollMs = 200 } = options;
  let position = after;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    const events = await turns.events(sessionId, position);
    for (const { data, ...place } of events) {
      position = place.position;
      if (isEvent(data)) yield { ...place, event: data };
      if (isOver()) return;
    }
    if (events.length > 0) continue;
    try {
      await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
    } catch {
      return;
    }
  }
}

/** An event as it is stored. */
export function storedEvent(event: AgentEvent): unknown {
  if (!('error' in event) || event.error === undefined) return event;
  const { code, message } = event.error;
  return { ...event, error: { code, message } };
}
