/** How many sessions are remembered. */
const MAX_SESSIONS = 10_000;

/** What a registry knows about untrusted text after the calls that read it have ended. */
export class KnownTaints {
  readonly #sessions = new Set<string>();
  readonly #tools = new Set<string>();

  /**
   * A call of the session returned untrusted text. If there are too many sessions, those without
   * such a call for the longest time are forgotten.
   */
  noteSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#sessions.add(sessionId);
    const [quietest] = this.#sessions;
    if (this.#sessions.size > MAX_SESSIONS && quietest !== undefined) {
      this.#sessions.delete(quietest);
    }
  }

  hasSession(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /**
   * A service of the tool read untrusted text. Any later call that it serves may return that text.
   */
  noteServiceOf(tool: string): void {
    this.#tools.add(tool);
  }

  hasServiceOf(tool: string): boolean {
    return this.#tools.has(tool);
  }
}
