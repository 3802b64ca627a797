/** What a session has used up. */
export interface Use {
  calls: number;
  costUsd: number;
}

const NOTHING: Use = { calls: 0, costUsd: 0 };

/**
 * Counts what a session uses up, for everything in this process that has the session open. What is
 * not recorded yet counts here, and in no other process.
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

  /** Counts use that is not recorded yet. */
  count(use: Use): void {
    this.#unstored = sumOfUse(this.#unstored, use);
  }

  /** Counts a record of the store, from this process or another one. */
  addStored(use: Use): void {
    this.#stored = sumOfUse(this.#stored, use);
  }

  /** Part of what was counted here is now recorded. */
  wasStored({ calls, costUsd }: Use): void {
    this.count({ calls: -calls, costUsd: -costUsd });
  }

  startOver(): void {
    this.#stored = NOTHING;
    this.#unstored = NOTHING;
  }
}

export function sumOfUse(a: Use, b: Use): Use {
  return { calls: a.calls + b.calls, costUsd: a.costUsd + b.costUsd };
}
