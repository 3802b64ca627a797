import type { AgentEvent } from './api.js';

/** How many events may wait for the reader before the sender has to wait. */
const HIGH_WATER = 64;
/** How many progress events may wait for the reader. If there are more, the oldest are dropped. */
const MAX_PROGRESS = 64;

/** Passes events from a turn to its reader, at the speed of the reader. */
export class EventQueue {
  #events: AgentEvent[] = [];
  #progress = 0;
  #isEnded = false;
  #isReleased = false;
  #wakeReader = () => {};
  #wakeWriters: (() => void)[] = [];

  /** Adds the event at once. Resolves when the reader has caught up. */
  push(event: AgentEvent): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    this.#add(event);
    this.#wakeReader();
    if (this.#isReleased || this.#events.length < HIGH_WATER) return Promise.resolve();
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** From now on the sender never waits. All events are kept for the reader. */
  release(): void {
    this.#isReleased = true;
    this.#wakeAll();
  }

  /** The reader has stopped: nobody waits any more, and further events are dropped. */
  end(): void {
    this.#isEnded = true;
    this.#events = [];
    this.#wakeAll();
    this.#wakeReader();
  }

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
