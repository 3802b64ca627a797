import type { HeldProcess } from './held-process.js';
import { SessionProcesses } from './session-processes.js';

/** Processes of one session that may run at once, unless an option says otherwise. */
export const DEFAULT_MAX_BACKGROUND_PROCESSES = 8;

/** Processes of all sessions that are remembered after their end, each with its output. */
const MAX_ENDED = 64;

/** What tools left running, by session. */
export class BackgroundProcessTable {
  readonly #maxPerSession: number;
  readonly #sessions = new Map<string, SessionProcesses>();
  /** Those that are under way: a second one waits for the first. */
  readonly #ending = new Map<string, Promise<unknown>>();
  #ended: { sessionId: string; processes: SessionProcesses; held: HeldProcess }[] = [];

  constructor(maxPerSession: number) {
    this.#maxPerSession = maxPerSession;
  }

  /** Those of a session that has any. */
  find(sessionId: string): SessionProcesses | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Those of a session that is to have some. */
  open(sessionId: string): SessionProcesses {
    let processes = this.#sessions.get(sessionId);
    if (processes === undefined) {
      const opened = new SessionProcesses(this.#maxPerSession, (held) =>
        this.#remember({ sessionId, processes: opened, held }),
      );
      processes = opened;
      this.#sessions.set(sessionId, processes);
    }
    return processes;
  }

  /** Ends those of a session, and waits for it. */
  async end(sessionId: string): Promise<void> {
    const processes = this.#sessions.get(sessionId);
    // What begins from now on is of a session that begins anew.
    this.#sessions.delete(sessionId);
    this.#ended = this.#ended.filter((ended) => ended.processes !== processes);
    const before = this.#ending.get(sessionId);
    const reason = new DOMException('the session has ended', 'AbortError');
    const ending = Promise.all([before, processes?.end(reason)]);
    this.#ending.set(sessionId, ending);
    await ending;
    if (this.#ending.get(sessionId) === ending) this.#ending.delete(sessionId);
  }

  async endAll(): Promise<void> {
    const sessions = new Set([...this.#sessions.keys(), ...this.#ending.keys()]);
    await Promise.all([...sessions].map((sessionId) => this.end(sessionId)));
  }

  #remember(ended: { sessionId: string; processes: SessionProcesses; held: HeldProcess }): void {
    // Nobody asks for those of a session that has ended.
    if (this.#sessions.get(ended.sessionId) !== ended.processes) return;
    this.#ended.push(ended);
    while (this.#ended.length > MAX_ENDED) {
      const oldest = this.#ended.shift();
      if (oldest === undefined) return;
      const { sessionId, processes, held } = oldest;
      processes.forget(held.info.id);
      if (processes.isEmpty && this.#sessions.get(sessionId) === processes) {
        this.#sessions.delete(sessionId);
      }
    }
  }
}
