const FIRST_MS = 200;
const LONGEST_MS = 60_000;

/**
 * How long to wait after a list that a server asked to be read again. A server may ask at once
 * after each list, so the pause doubles while it goes on, and begins anew after a quiet minute.
 */
export class RefreshPause {
  readonly #now: () => number;
  #ms = 0;
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  nextMs(): number {
    const now = this.#now();
    const isQuiet = now - this.#endsAt > LONGEST_MS;
    this.#ms = isQuiet ? FIRST_MS : Math.min(this.#ms * 2, LONGEST_MS);
    this.#endsAt = now + this.#ms;
    return this.#ms;
  }
}
