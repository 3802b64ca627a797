import type { AttachmentInfo } from './tool-capabilities.js';

/** A turn that is to run. */
export interface NewTurn {
  /** The id of the turn. A turn with an id that is there already is not stored again. */
  id: string;
  sessionId: string;
  prompt: string;
  attachments?: readonly AttachmentInfo[];
  /** Somebody else had a hand in the prompt. */
  untrusted?: boolean;
  /** The tenant. Tenants take their turns one after the other. `''` when absent. */
  tenant?: string;
  /** Of the turns of a tenant, the one with the smaller number runs first. 0 when absent. */
  priority?: number;
  /** Milliseconds from now on, by the clock of the store. 0 when absent. */
  delayMs?: number;
  /** How often turns of a key may begin, counted over all turns with that key. */
  rates?: readonly TurnRate[];
  /**
   * Ids of turns that have to be over before this one begins, however they ended. This turn is told
   * their answers. Turns that are not stored count as over.
   */
  after?: readonly string[];
  /** The turn is given up after this many failures. 5 when absent. */
  maxAttempts?: number;
  /** Milliseconds after the first failure, doubled with each one. 1,000 when absent. */
  backoffMs?: number;
}

/** The most turns of a key in a time. A key is e.g. `provider:anthropic`. */
export interface TurnRate {
  key: string;
  /** The most turns that begin in `perMs` milliseconds. */
  max: number;
  perMs: number;
}

/** A turn that is repeated on a schedule. */
export interface NewSchedule extends Omit<NewTurn, 'id' | 'sessionId' | 'delayMs' | 'after'> {
  /** The id of the schedule. A schedule with the same id is replaced. */
  id: string;
  /**
   * The session of all its turns. With one, a time is left out if the turn before is not over yet.
   * When absent, each turn has a session of its own.
   */
  sessionId?: string;
  /** Five fields, or six with seconds first, e.g. `0 9 * * MON-FRI`. */
  cron: string;
  /** A name such as `Europe/Vienna`; `UTC` when absent. */
  timezone?: string;
}

/** A schedule as it is stored. Times are milliseconds since the epoch. */
export interface StoredSchedule {
  schedule: NewSchedule;
  /** Absent until the next time is planned. */
  nextAt?: number;
  /** The time of its last turn. */
  lastAt?: number;
}

export type TurnState = 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

/** A turn as it is stored. Times are milliseconds since the epoch, by the clock of the store. */
export interface StoredTurn extends Required<Omit<NewTurn, 'delayMs' | 'rates'>> {
  state: TurnState;
  /** When it may begin. */
  runAt: number;
  /** How often it failed. */
  attempts: number;
  /** How often the process that ran it was gone. */
  losses: number;
  /** It waited for a decision before. */
  wasPaused: boolean;
  /** Whoever takes the turn next must end it. */
  isCancelled: boolean;
  /** Raised each time that the turn is taken. The process that took it names this number. */
  taking: number;
  /** How many decisions and the like came for it. */
  wakes: number;
  /** Why the turn is over, or why it failed last. */
  message?: string;
  /** The last answer of the agent, for a turn that is over. */
  answer?: string;
}

/** How a turn stands after it ran. */
export interface TurnOutcome {
  state: Exclude<TurnState, 'running'>;
  /** The delay of a turn that waits again. 0 when absent. */
  delayMs?: number;
  /** It failed. */
  isFailure?: boolean;
  message?: string;
  answer?: string;
}

/** What there is to do, and when. */
export interface DueTurns {
  /**
   * How many turns could be taken now, plus the schedules whose time has come. At most 1,000 of
   * each are counted.
   */
  due: number;
  /** Milliseconds until there is more to do; absent when nothing is planned. */
  nextInMs?: number;
}

/** An event of a turn. */
export interface StoredTurnEvent {
  /** Greater than that of earlier events of its session. */
  position: number;
  turnId: string;
  data: unknown;
}

/** The turns that are to run, and what happened in them. Each method is one transaction. */
export interface TurnStore {
  /** Stores a turn, and says whether it is new. @throws `VALUE_INVALID`, `STORE_UNAVAILABLE` */
  put(turn: NewTurn): Promise<boolean>;
  /**
   * Takes the next turn for `leaseMs`. It goes to the tenant that was served least, then by
   * priority and age. Rates hold, and a session never has two turns at once. A turn whose lease is
   * over is taken again.
   */
  take(opts: { leaseMs: number }): Promise<StoredTurn | null>;
  /**
   * Extends the leases of taken turns. Returns those that still hold, and whether each is to be
   * cancelled.
   */
  extend(
    taken: readonly { id: string; taking: number }[],
    opts: { leaseMs: number },
  ): Promise<Array<{ id: string; isCancelled: boolean }>>;
  /**
   * Says how a turn went. A turn that was woken since it was taken waits, instead of being paused.
   *
   * @returns whether more turns wait, of its session or after this turn; `null` when the caller no
   * longer held the turn, and nothing was changed
   */
  settle(
    taken: { id: string; taking: number; wakes: number },
    outcome: TurnOutcome,
  ): Promise<{ isMore: boolean } | null>;
  /**
   * Makes the paused turn of a session run again after `delayMs`. Says whether there is such a
   * turn.
   */
  wake(sessionId: string, opts?: { delayMs?: number }): Promise<boolean>;
  /** Ends a turn that has not begun. A turn that has begun is marked: whoever takes it ends it. */
  cancel(id: string): Promise<boolean>;
  /** A turn as it is stored, or `null`. */
  get(id: string): Promise<StoredTurn | null>;
  /** How many turns and schedules are due, and when the next one is. */
  due(): Promise<DueTurns>;
  /** How many turns there are in each state. */
  counts(): Promise<Record<TurnState, number>>;
  /** Adds events of a turn, as long as the turn is taken. Says whether it is. */
  addEvents(taken: { id: string; taking: number }, events: readonly unknown[]): Promise<boolean>;
  /** Events of a session, in their order. 1,000 at most. */
  events(sessionId: string, after: number): Promise<StoredTurnEvent[]>;
  /** Removes turns that are over, and their events, once they are older than that. */
  sweep(opts: { olderThanMs: number }): Promise<number>;
  /**
   * Stores a schedule that is to be planned. Says whether it is new, or differs from the stored
   * one.
   */
  putSchedule(schedule: NewSchedule): Promise<boolean>;
  /**
   * The schedules whose time has come, and those to be planned; 100 at most. `now`: the time of the
   * store.
   */
  dueSchedules(): Promise<{ now: number; schedules: StoredSchedule[] }>;
  /**
   * Moves a schedule on, if its next time is still `from`. Says whether it did. `isLeftOut`: that
   * time gets no turn.
   */
  moveSchedule(
    id: string,
    opts: { from: number | undefined; to: number; isLeftOut?: boolean },
  ): Promise<boolean>;
  /** All schedules, by their ids. */
  schedules(): Promise<StoredSchedule[]>;
  /** Removes a schedule. Says whether it was there. */
  deleteSchedule(id: string): Promise<boolean>;
}
