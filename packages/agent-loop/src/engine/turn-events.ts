import type { TurnStore } from '@ethosagent/types';
import type { AgentEvent } from '../api.js';
import { storedEvent } from './watch.js';

/** Milliseconds that events wait for others, so that words of a model don't come one by one. */
const GATHER_MS = 100;

/** Writes the events of a turn, a few at once and in their order. Who watches may miss the end of a turn whose worker died. */
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

  /** Resolves when all is written, or could not be. */
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
      // The journal has what happened. A turn is not ended for those who watch it.
      .then(
        () => {},
        () => {},
      );
  }
}
