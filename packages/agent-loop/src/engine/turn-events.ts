import type { TurnStore } from '@ethosagent/types';
import type { AgentEvent } from '../api.js';
import { storedEvent } from './watch.js';

/**
 * How many milliseconds events are collected before they are written, so that the words of a model
 * are not written one by one.
 */
const GATHER_MS = 100;

/**
 * Writes the events of a turn in order, several at once. If a worker dies, its last events may be
 * missing.
 */
export class TurnEvents {
  readonly #turns: TurnStore;
  readonly #taken: { id: string; taking: number };
  #waiting: AgentEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(turns: TurnStore, taken: { id: string; taking: number }) {
    this.#turns = turns;
    this.#taken = taken;
  }

  add(event: AgentEvent): void {
    const last = this.#waiting.at(-1);
    if (event.type === 'text' && last?.type === 'text') {
      this.#waiting[this.#waiting.length - 1] = { type: 'text', text: last.text + event.text };
    } else {
      this.#waiting.push(event);
    }
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS);
  }

  /** Resolves when all events were written, or could not be. */
  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#waiting.splice(0).map(storedEvent);
    if (events.length === 0) return;
    this.#writing = this.#writing
      .then(() => this.#turns.addEvents(this.#taken, events))
      // The journal has everything that matters. A turn does not fail because its events can't be
      // stored.
      .then(
        () => {},
        () => {},
      );
  }
}
