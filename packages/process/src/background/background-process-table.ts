import type { HeldProcess } from './held-process.js';
import { SessionProcesses } from './session-processes.js';

/** The default for how many background processes of one session may run at once. */
export const DEFAULT_MAX_BACKGROUND_PROCESSES = 8;

/** How many ended processes of all sessions are remembered, each with its output. */
const MAX_ENDED = 64;

/** The processes that tools left running, by session. */
export class BackgroundProcessTable {
  readonly #maxPerSession: number;
  readonly #maxEnded: number;
  readonly #sessions = new Map<string, SessionProcesses>();
  /** The sessions that are ending. A second end waits for the first. */
  readonly #ending = new Map<string, Promise<unknown>>();
  #ended: { sessionId: string; processes: SessionProcesses; held: HeldProcess }[] = [];

  /**
   * Holds the background processes of a runtime.
   *
   * @param maxPerSession how many processes of one session may run at once
   * @param maxEnded how many ended processes of all sessions are kept
   */
  constructor(maxPerSession: number, maxEnded = MAX_ENDED) {
    this.#maxPerSession = maxPerSession;
    this.#maxEnded = maxEnded;
  }

  /**
   * Finds the processes of a session, without creating an entry for it.
   *
   * @param sessionId the id of the session
   * @returns `undefined` if the session has no processes
   */
  find(sessionId: string): SessionProcesses | undefined {
    return this.#sessions.get(sessionId);
  }

  /**
   * Finds the processes of a session, or creates an entry for them.
   *
   * @param sessionId the id of the session
   * @returns the processes; the same object as long as the session has some
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
   * Ends the processes of a session, and waits for their end.
   *
   * @param sessionId the id of the session
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

  /**
   * Ends some of the processes of all sessions, and waits for their end.
   *
   * @param isMeant chooses the processes
   * @param reason the reason that the processes keep for their end
   */
  async endWhere(isMeant: (held: HeldProcess) => boolean, reason: unknown): Promise<void> {
    const sessions = [...this.#sessions.values()];
    await Promise.all(sessions.map((processes) => processes.endWhere(isMeant, reason)));
  }

  /** Ends the processes of all sessions, and waits for their end. */
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
