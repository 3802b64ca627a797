import type { AttachmentInfo } from './tool-capabilities.js';

/** A turn that is to run. */
export interface NewTurn {
  /** Of the turn: one that is there already is no second one. */
  id: string;
  sessionId: string;
  prompt: string;
  attachments?: readonly AttachmentInfo[];
  /** Somebody else had a hand in the prompt. */
  untrusted?: boolean;
  /** Whose it is: tenants take their turns one after the other. `''` when absent. */
  tenant?: string;
  /** Among the turns of its tenant, the smaller goes first. 0 when absent. */
  priority?: number;
  /** Milliseconds from now on, by the clock of the store. 0 when absent. */
  delayMs?: number;
  /** How often it may begin, together with the other turns of a key. */
  rates?: readonly TurnRate[];
  /**
   * Ids of turns that have to be over before it begins, however they ended; it is told their answers.
   * Those that are not stored count as over.
   */
  after?: readonly string[];
  /** Failures after which it is given up. 5 when absent. */
  maxAttempts?: number;
  /** Milliseconds after the first failure, doubled with each one. 1,000 when absent. */
  backoffMs?: number;
}

/** So many turns of a key in a time, e.g. of `provider:anthropic`. */
export interface TurnRate {
  key: string;
  /** The most turns that begin in `perMs` milliseconds. */
  max: number;
  perMs: number;
}

/** A turn that comes again and again. */
export interface NewSchedule extends Omit<NewTurn, 'id' | 'sessionId' | 'delayMs' | 'after'> {
  /** Of the schedule: one that is there already is replaced. */
  id: string;
  /**
   * The session of all its turns. A time at which the turn before is not over is left out then. When
   * absent each turn has a session of its own.
   */
  sessionId?: string;
  /** Five fields, or six with seconds first, e.g. `0 9 * * MON-FRI`. */
  cron: string;
  /** As `Europe/Vienna`; `UTC` when absent. */
  timezone?: string;
}

/** A schedule as it is stored. Times are milliseconds since the epoch. */
export interface StoredSchedule {
  schedule: NewSchedule;
  /** Absent until it is planned. */
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
  /** Times that it failed. */
  attempts: number;
  /** Times that who ran it was gone. */
  losses: number;
  /** It waited for a decision before. */
  wasPaused: boolean;
  /** It is to be ended by who takes it. */
  isCancelled: boolean;
  /** Greater each time that it is taken. Who took it names it. */
  taking: number;
  /** Decisions and the like that came for it. */
  wakes: number;
  /** Why it is over, or failed last. */
  message?: string;
  /** What the agent said last, of a turn that is over. */
  answer?: string;
}

/** How a turn stands after it ran. */
export interface TurnOutcome {
  state: Exclude<TurnState, 'running'>;
  /** Of one that waits again. 0 when absent. */
  delayMs?: number;
  /** It failed. */
  isFailure?: boolean;
  message?: string;
  answer?: string;
}

/** What is to be looked at next. */
export interface DueTurns {
  /** Turns that could be taken now, and schedules whose time has come. At most 1,000 of each are counted. */
  due: number;
  /** Milliseconds until the next one; absent where none is to come. */
  nextInMs?: number;
}

/** An event of a turn. */
export interface StoredTurnEvent {
  /** Greater than those before it in its session. */
  position: number;
  turnId: string;
  data: unknown;
}

/** The turns that are to run, and what happened in them. Each method is one transaction. */
export interface TurnStore {
  /** Stores a turn, and says whether it is new. @throws `VALUE_INVALID`, `STORE_UNAVAILABLE` */
  put(turn: NewTurn): Promise<boolean>;
  /**
   * Takes the turn that is next for `leaseMs`: of the tenant that was served least, by priority and
   * age, within its rates, and never two of a session at once. One whose lease is over is taken again.
   */
  take(opts: { leaseMs: number }): Promise<StoredTurn | null>;
  /** Extends what was taken. Gives what still is, and whether it is to be cancelled. */
  extend(
    taken: readonly { id: string; taking: number }[],
    opts: { leaseMs: number },
  ): Promise<Array<{ id: string; isCancelled: boolean }>>;
  /**
   * Says how a turn went. Where it was woken since it was taken it waits instead of being paused.
   *
   * @returns whether more of its session waits, or a turn that is to come after it; `null` when it was taken from the caller, and nothing
   * was changed
   */
  settle(
    taken: { id: string; taking: number; wakes: number },
    outcome: TurnOutcome,
  ): Promise<{ isMore: boolean } | null>;
  /** Has the paused turn of a session run again after `delayMs`. Says whether there is one. */
  wake(sessionId: string, opts?: { delayMs?: number }): Promise<boolean>;
  /** Ends a turn that has not begun; one that has is to be cancelled by who takes it. */
  cancel(id: string): Promise<boolean>;
  /** A turn as it is stored, or `null`. */
  get(id: string): Promise<StoredTurn | null>;
  /** How many turns could begin now, and since when the oldest of them. */
  due(): Promise<DueTurns>;
  /** How many turns there are in each state. */
  counts(): Promise<Record<TurnState, number>>;
  /** Adds events of a turn, as long as it is taken. Says whether it is. */
  addEvents(taken: { id: string; taking: number }, events: readonly unknown[]): Promise<boolean>;
  /** Events of a session, in their order. 1,000 at most. */
  events(sessionId: string, after: number): Promise<StoredTurnEvent[]>;
  /** Removes turns that are over, and their events, once they are older than that. */
  sweep(opts: { olderThanMs: number }): Promise<number>;
  /** Stores a schedule that is to be planned, and says whether it is new or another one than before. */
  putSchedule(schedule: NewSchedule): Promise<boolean>;
  /** Schedules whose time has come, and those to be planned. 100 at most. `now`: the time of the store. */
  dueSchedules(): Promise<{ now: number; schedules: StoredSchedule[] }>;
  /**
   * Moves a schedule on, if its next time is still `from`. Says whether it was. `isLeftOut`: there is
   * no turn of that time.
   */
  moveSchedule(
    id: string,
    opts: { from: number | undefined; to: number; isLeftOut?: boolean },
  ): Promise<boolean>;
  /** All schedules, by their ids. */
  schedules(): Promise<StoredSchedule[]>;
  /** Says whether it was there. */
  deleteSchedule(id: string): Promise<boolean>;
}
