/** What an engine is told of a turn that is to run. Which one runs next, the `TurnStore` says. */
export interface EngineTurn {
  id: string;
  /** Times that it was taken by a worker. With the id it names one waiting of the turn. */
  taking: number;
  sessionId: string;
  /** Milliseconds from now on. */
  delayMs: number;
  /** The smaller goes first. */
  priority: number;
}

/** What looks for work when it is woken. */
export interface EngineWork {
  /** Takes the turn that is next, if there is one, and runs it until it is over, waits or is handed over. */
  runNext(): Promise<void>;
  /** How many of them run at once. */
  concurrency: number;
}

/**
 * What wakes workers: BullMQ, or something else that gets a message to one of many processes. It holds
 * nothing that could not be lost: turns stand in the `TurnStore`, and a sweep of the workers wakes
 * again what an engine forgot. So each method may do its work late, twice, or not at all.
 */
export interface Engine {
  /** A turn was stored: some worker is to look for work, after the delay. */
  enqueue(turn: EngineTurn): Promise<void>;
  /** There is something to do for a session: a decision came, or a turn before it is over. */
  wake(sessionId: string): Promise<void>;
  /** A turn is not to run any more. Nothing happens where it is not waiting here. */
  cancel(turn: Pick<EngineTurn, 'id' | 'taking'>): Promise<void>;
  /** Begins to work. */
  work(work: EngineWork): Promise<EngineWorker>;
  /** What an operator has to fix; `undefined` while it works. */
  problem(): Promise<string | undefined>;
  /** Closes connections. Turns that wait stay. */
  close(): Promise<void>;
}

/** A worker of an engine. */
export interface EngineWorker {
  /** Takes nothing new, and waits for what runs. */
  close(): Promise<void>;
}
