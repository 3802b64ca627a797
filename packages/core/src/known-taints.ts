/** Sessions that are remembered. */
const MAX_SESSIONS = 10_000;

/** What a registry knows of text that an adversary may have written, beyond the calls that read it. */
export class KnownTaints {
  readonly #sessions = new Set<string>();
  readonly #tools = new Set<string>();

  /** A call of the session returned such text. Of many sessions, the ones longest quiet are forgotten. */
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

  /** A service of the tool read such text. Whichever call it serves next may return it. */
  noteServiceOf(tool: string): void {
    this.#tools.add(tool);
  }

  hasServiceOf(tool: string): boolean {
    return this.#tools.has(tool);
  }
}
