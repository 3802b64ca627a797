/** What a session has used up. */
export interface Use {
  calls: number;
  costUsd: number;
}

const NOTHING: Use = { calls: 0, costUsd: 0 };

/**
 * Counts what a session uses up, for all in this process that have it open. What is not written down
 * yet counts here, and in no other process.
 */
export class SessionUse {
  #stored = NOTHING;
  #unstored = NOTHING;

  get total(): Use {
    return sumOfUse(this.#stored, this.#unstored);
  }

  get unstored(): Use {
    return this.#unstored;
  }

  /** Counts what nobody writes down now. */
  count(use: Use): void {
    this.#unstored = sumOfUse(this.#unstored, use);
  }

  /** A record of the store, of this process or of another. */
  addStored(use: Use): void {
    this.#stored = sumOfUse(this.#stored, use);
  }

  /** Of what was counted here, some is written down. */
  wasStored({ calls, costUsd }: Use): void {
    this.count({ calls: -calls, costUsd: -costUsd });
  }

  /** The session was deleted. */
  startOver(): void {
    this.#stored = NOTHING;
    this.#unstored = NOTHING;
  }
}

export function sumOfUse(a: Use, b: Use): Use {
  return { calls: a.calls + b.calls, costUsd: a.costUsd + b.costUsd };
}
