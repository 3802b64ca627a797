import { EthosError } from '@ethosagent/types';
import type { AgentEvent } from './api.js';
import type { EventQueue } from './event-queue.js';
import type { Journal } from './journal/journal.js';
import type { Turn } from './turn.js';

/** A turn that runs or is about to. */
export interface RunningTurn {
  journal?: Journal;
  turn?: Turn;
  events?: EventQueue;
  /** Whether it must end, even if it has not begun yet. */
  isLeft: boolean;
  readonly controller: AbortController;
  ended: Promise<void>;
}

export interface RunningParts {
  running: RunningTurn;
  /** Resolves `running.ended`. */
  release: () => void;
}

/** Ends a turn that runs or is about to, when its reader has stopped. */
export function leave(running: RunningTurn): void {
  const reason = new DOMException('the reader of the turn has stopped', 'AbortError');
  running.isLeft = true;
  running.turn?.leave(reason);
  running.events?.end();
  running.controller.abort(reason);
}

const READ =
  'the events of this turn were read before; keep them, or call `run` again for another turn';

/**
 * Returns a turn as an iterable of its events. The turn begins with its first read, and is left when
 * its reader stops. Like other streams, it is read only once: a second reader would begin a second turn.
 *
 * @param start runs the turn
 */
export function readTurn(
  start: (parts: RunningParts) => AsyncGenerator<AgentEvent, void, undefined>,
): AsyncIterable<AgentEvent> {
  let isRead = false;
  return {
    [Symbol.asyncIterator]: () => {
      if (isRead) throw new EthosError('TURN_INVALID', READ);
      isRead = true;
      let release = () => {};
      const running: RunningTurn = {
        isLeft: false,
        controller: new AbortController(),
        ended: new Promise((resolve) => {
          release = resolve;
        }),
      };
      const events = start({ running, release });
      let isWaiting = false;
      return {
        async next() {
          isWaiting = true;
          try {
            return await events.next();
          } finally {
            isWaiting = false;
          }
        },
        return() {
          // A generator's own `return` would wait for an event that may never come.
          if (isWaiting) leave(running);
          return events.return();
        },
      };
    },
  };
}
