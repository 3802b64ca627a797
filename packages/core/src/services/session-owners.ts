/** Throws once another process may hold the session. */
type AssertOwned = () => void;

/**
 * Whether this process may still act for its sessions. A service outlives the claim under which it was
 * opened, so its accessors ask here.
 */
export class SessionOwners {
  readonly #checks = new Map<string, Set<AssertOwned>>();

  /**
   * Called when calls of a session begin that hold it.
   * @returns a function to call when they have ended. If the session was lost by then, it stays lost
   * until calls begin that hold it
   */
  enter(sessionId: string, assertOwned: AssertOwned): () => void {
    const checks = this.#checks.get(sessionId) ?? new Set();
    this.#checks.set(sessionId, checks);
    if (passes(assertOwned)) {
      for (const check of checks) if (!passes(check)) checks.delete(check);
    }
    checks.add(assertOwned);
    return () => {
      if (passes(assertOwned)) checks.delete(assertOwned);
      if (checks.size === 0 && this.#checks.get(sessionId) === checks) {
        this.#checks.delete(sessionId);
      }
    };
  }

  /** @throws `SESSION_TAKEN` once another process may hold the session */
  assertOwned(sessionId: string): void {
    for (const check of this.#checks.get(sessionId) ?? []) check();
  }

  forget(sessionId: string): void {
    this.#checks.delete(sessionId);
  }
}

function passes(check: AssertOwned): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
