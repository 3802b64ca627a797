/** A batch of calls that holds a session. Two batches may have the same check. */
interface Holding {
  /** Throws once another process may hold the session. */
  readonly assertOwned: () => void;
}

/**
 * Whether this process may still act for its sessions. A service outlives the claim under which it was
 * opened, so its accessors ask here.
 */
export class SessionOwners {
  readonly #holdings = new Map<string, Set<Holding>>();

  /**
   * Called when calls of a session begin that hold it.
   * @returns a function to call when they have ended. If the session was lost by then, it stays lost
   * until calls begin that hold it
   */
  enter(sessionId: string, assertOwned: () => void): () => void {
    const holdings = this.#holdings.get(sessionId) ?? new Set();
    this.#holdings.set(sessionId, holdings);
    const own = { assertOwned };
    if (isOwned(own)) {
      for (const holding of holdings) if (!isOwned(holding)) holdings.delete(holding);
    }
    holdings.add(own);
    return () => {
      if (isOwned(own)) holdings.delete(own);
      if (holdings.size === 0 && this.#holdings.get(sessionId) === holdings) {
        this.#holdings.delete(sessionId);
      }
    };
  }

  /** @throws `SESSION_TAKEN` once another process may hold the session */
  assertOwned(sessionId: string): void {
    for (const { assertOwned } of this.#holdings.get(sessionId) ?? []) assertOwned();
  }

  forget(sessionId: string): void {
    this.#holdings.delete(sessionId);
  }
}

function isOwned({ assertOwned }: Holding): boolean {
  try {
    assertOwned();
    return true;
  } catch {
    return false;
  }
}
