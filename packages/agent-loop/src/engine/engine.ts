/**
 * A stored turn that an engine announces to workers. The `TurnStore` decides which turn runs next.
 */
export interface EngineTurn {
  id: string;
  /**
   * How often a worker has taken the turn. It is raised each time, so the id and this number
   * together name one wait of the turn.
   */
  taking: number;
  sessionId: string;
  /** The delay in milliseconds from now. */
  delayMs: number;
  /** A smaller number runs first. */
  priority: number;
}

/** The work that an engine starts when it wakes a worker. */
export interface EngineWork {
  /** Takes the next turn, if there is one, and runs it until it ends, waits or is handed over. */
  runNext(): Promise<void>;
  /** How many calls of `runNext` may run at once. */
  concurrency: number;
}

/**
 * Wakes workers, through BullMQ or another system that sends a message to one of many processes. An
 * engine may lose everything: the turns are in the `TurnStore`, and the workers regularly look
 * there for turns that the engine forgot. So each method may act late, twice, or not at all.
 */
export interface Engine {
  /** Announces a stored turn. After its delay, a worker looks for work. */
  enqueue(turn: EngineTurn): Promise<void>;
  /**
   * Wakes a worker, because a session has work: a decision was made, or an earlier turn has ended.
   */
  wake(sessionId: string): Promise<void>;
  /** Withdraws the announcement of a turn. Does nothing if the turn does not wait here. */
  cancel(turn: Pick<EngineTurn, 'id' | 'taking'>): Promise<void>;
  /** Starts to wake this process for work. */
  work(work: EngineWork): Promise<EngineWorker>;
  /** Returns what an operator has to fix; `undefined` if the engine works. */
  problem(): Promise<string | undefined>;
  /** Closes the connections. Waiting turns stay. */
  close(): Promise<void>;
}

/** A process that an engine wakes. */
export interface EngineWorker {
  /** Takes no new work, and waits for the work that runs. */
  close(): Promise<void>;
}
