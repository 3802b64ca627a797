import type { HeldProcess } from './held-process.js';
import { SessionProcesses } from './session-processes.js';

/** Processes of one session that may run at once, unless an option says otherwise. */
export const DEFAULT_MAX_BACKGROUND_PROCESSES = 8;

/** How many ended processes of all sessions are remembered, each with its output. */
const MAX_ENDED = 64;

/** What tools left running, by session. */
export class BackgroundProcessTable {
  readonly #maxPerSession: number;
  readonly #maxEnded: number;
  readonly #sessions = new Map<string, SessionProcesses>();
  /** Those that are under way: a second one waits for the first. */
  readonly #ending = new Map<string, Promise<unknown>>();
  #ended: { sessionId: string; processes: SessionProcesses; held: HeldProcess }[] = [];

  /**
   * The background processes of a runtime, by their sessions.
   *
   * @param maxPerSession how many of a session may run at once
   * @param maxEnded how many that ended are kept, over all sessions
   */
  constructor(maxPerSession: number, maxEnded = MAX_ENDED) {
    this.#maxPerSession = maxPerSession;
    this.#maxEnded = maxEnded;
  }

  /**
   * The processes of a session, without starting to keep any.
   *
   * @param sessionId of the session
   * @returns `undefined` for a session that never had one
   */
  find(sessionId: string): SessionProcesses | undefined {
    return this.#sessions.get(sessionId);
  }

  /**
   * The processes of a session, for one that is about to start.
   *
   * @param sessionId of the session
   * @returns the same object while the session has processes
   */
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

  /**
   * Ends the processes of a session, and waits for it.
   *
   * @param sessionId of the session
   */
  async end(sessionId: string): Promise<void> {
    const processes = this.#sessions.get(sessionId);
    // Removed first: a process that starts from now on belongs to a new session of this id.
    this.#sessions.delete(sessionId);
    this.#ended = this.#ended.filter((ended) => ended.processes !== processes);
    const before = this.#ending.get(sessionId);
    const reason = new DOMException('the session has ended', 'AbortError');
    const ending = Promise.all([before, processes?.end(reason)]);
    this.#ending.set(sessionId, ending);
    await ending;
    if (this.#ending.get(sessionId) === ending) this.#ending.delete(sessionId);
  }

  /** Ends the processes of all sessions, and waits for it. */
  async endAll(): Promise<void> {
    const sessions = new Set([...this.#sessions.keys(), ...this.#ending.keys()]);
    await Promise.all([...sessions].map((sessionId) => this.end(sessionId)));
  }

  #remember(ended: { sessionId: string; processes: SessionProcesses; held: HeldProcess }): void {
    // If its session has ended, nobody will ask for this process.
    if (this.#sessions.get(ended.sessionId) !== ended.processes) return;
    this.#ended.push(ended);
    while (this.#ended.length > this.#maxEnded) {
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
