import type { AgentEvent } from './api.js';

/** Events that wait for the reader before whoever sends them waits too. */
const HIGH_WATER = 64;
/** Progress that waits for the reader; of more, the oldest is dropped. */
const MAX_PROGRESS = 64;

/** Events from a turn to its reader, at the pace of the reader. */
export class EventQueue {
  #events: AgentEvent[] = [];
  #progress = 0;
  #isEnded = false;
  #isReleased = false;
  #wakeReader = () => {};
  #wakeWriters: (() => void)[] = [];

  /** Resolves when the reader has caught up. The event is in the queue at once. */
  push(event: AgentEvent): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    this.#add(event);
    this.#wakeReader();
    if (this.#isReleased || this.#events.length < HIGH_WATER) return Promise.resolve();
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** Nobody who writes waits for the reader any more: what comes is kept for it. */
  release(): void {
    this.#isReleased = true;
    this.#wakeAll();
  }

  /** No more is read: those who wait go on, and what comes is dropped. */
  end(): void {
    this.#isEnded = true;
    this.#events = [];
    this.#wakeAll();
    this.#wakeReader();
  }

  /** The next event; waits for one. */
  async next(): Promise<AgentEvent | undefined> {
    while (this.#events.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const event = this.#events.shift();
    if (event?.type === 'tool_progress') this.#progress -= 1;
    if (this.#events.length < HIGH_WATER) this.#wakeAll();
    return event;
  }

  #add(event: AgentEvent): void {
    if (event.type === 'tool_progress') {
      if (this.#progress < MAX_PROGRESS) this.#progress += 1;
      else this.#dropOldestProgress();
    }
    this.#events.push(event);
  }

  #dropOldestProgress(): void {
    const at = this.#events.findIndex(({ type }) => type === 'tool_progress');
    if (at >= 0) this.#events.splice(at, 1);
  }

  #wakeAll(): void {
    for (const wake of this.#wakeWriters.splice(0)) wake();
  }
}
