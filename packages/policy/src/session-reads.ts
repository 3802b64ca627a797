import type { ToolBatchContext } from '@ethosagent/types';

type Reads = NonNullable<ToolBatchContext['readMtimes']>;

const MAX_SESSIONS = 256;

/** What sessions have read. The sessions that were quiet longest are forgotten first. */
export class SessionReads {
  readonly #reads = new Map<string, Reads>();

  /**
   * What a session has read, to be filled by its calls.
   *
   * @param sessionId of the call
   * @returns the reads, which the caller changes
   */
  of(sessionId: string): Reads {
    const reads = this.#reads.get(sessionId) ?? new Map();
    this.#reads.delete(sessionId);
    this.#reads.set(sessionId, reads);
    const [oldest] = this.#reads.keys();
    if (this.#reads.size > MAX_SESSIONS && oldest !== undefined) this.#reads.delete(oldest);
    return reads;
  }

  /**
   * Forgets what a session has read.
   *
   * @param sessionId of the session that ended
   */
  forget(sessionId: string): void {
    this.#reads.delete(sessionId);
  }
}
