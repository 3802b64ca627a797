import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallDecision, PendingApproval } from '@ethosagent/core';
import type {
  NewSchedule,
  NewTurn,
  StoredSchedule,
  StoredTurn,
  TurnState,
  TurnStore,
} from '@ethosagent/types';
import type { Engine } from './engine.js';
import { createLocalEngine } from './local-engine.js';
import { nextTime, planSchedules } from './plan-schedules.js';
import { streamEvents } from './stream-events.js';
import { type WatchedEvent, type WatchOptions, watchTurns } from './watch.js';
import { TurnWorker, type WorkerAgent, type WorkerOptions } from './worker.js';

/** What a fleet of workers shares. */
export interface FleetOptions {
  /** Where the turns stand: `createPostgresTurns`, or `createSqliteTurns` on one machine. */
  turns: TurnStore;
  /** What wakes workers. `createLocalEngine()` when absent: those of this process. */
  engine?: Engine;
}

/** A turn to be run by some worker. */
export type EnqueueInput = Omit<NewTurn, 'id'> & {
  /** So that the same turn is not run twice, whoever enqueues it again. Made when absent. */
  id?: string;
};

/** Turns that run beside each other, and one after them. */
export interface FlowInput {
  /** A flow with the same id runs once, however often it is started. A new id when absent. */
  id?: string;
  /** Each of a session of its own where it names none. */
  turns: readonly (Omit<EnqueueInput, 'sessionId' | 'after'> & { sessionId?: string })[];
  /**
   * Begins when all of them are over. Its prompt ends with their answers, as untrusted content: up to
   * 200,000 characters of them.
   */
  last: Omit<EnqueueInput, 'id' | 'after'>;
}

/** How a fleet is. */
export interface FleetHealth {
  turns: Record<TurnState, number>;
  /** Turns that could run now, and milliseconds until the next one. */
  due: number;
  nextInMs?: number;
  /** What an operator has to fix. */
  problems: string[];
}

/**
 * How many milliseconds later a decision is looked for, in case its maker ends before it can wake
 * the turn.
 */
const DECISION_DELAY_MS = 2_000;

/** Turns of sessions, run by any number of workers. */
export class Fleet {
  readonly #engine: Engine;
  readonly #turns: TurnStore;

  /**
   * Like `createFleet`.
   *
   * @param options the store of the turns, and the engine
   */
  constructor({ engine = createLocalEngine(), turns }: FleetOptions) {
    this.#engine = engine;
    this.#turns = turns;
  }

  /**
   * Stores a turn that some worker will run. Once this resolves the turn will run, whichever
   * process ends.
   *
   * @param turn the session and the prompt; an `id` that is stored already is not stored again
   * @returns the id of the turn
   * @throws `VALUE_INVALID` for a field that is wrong
   * @throws `KEY_INVALID` for an id that is no key
   * @throws `STORE_UNAVAILABLE` when the store does not answer
   */
  async enqueue({ id = randomUUID(), ...turn }: EnqueueInput): Promise<string> {
    await this.#turns.put({ id, ...turn });
    const { sessionId, delayMs = 0, priority = 0 } = turn;
    await this.#tell(() => this.#engine.enqueue({ id, taking: 0, sessionId, delayMs, priority }));
    return id;
  }

  /**
   * Stores turns that run on any workers, and one that runs after all of them. No worker waits for
   * them.
   *
   * @param flow the turns, and the last one
   * @returns the id of the last turn, and those of the others
   * @throws as `enqueue`
   */
  async flow({
    id = randomUUID(),
    turns,
    last,
  }: FlowInput): Promise<{ id: string; turns: string[] }> {
    const named = turns.map((turn, n) => ({ id: `${id}/${n + 1}`, ...turn }));
    // Stored first, since the last turn waits only for turns that exist.
    for (const turn of named) await this.enqueue({ sessionId: turn.id, ...turn });
    const after = named.map((turn) => turn.id);
    await this.enqueue({ ...last, id, after });
    return { id, turns: after };
  }

  /**
   * Has a turn run again and again. A schedule with the same id is replaced. An equal one goes on
   * as it was, so each machine may call this when it starts.
   *
   * @param schedule the times, as cron, and the turn
   * @throws `VALUE_INVALID` for a field that is wrong, or times that never come
   * @throws `KEY_INVALID` for an id that is no key
   * @throws `STORE_UNAVAILABLE` when the store does not answer
   */
  async schedule(schedule: NewSchedule): Promise<void> {
    nextTime(schedule, Date.now());
    await this.#turns.putSchedule(schedule);
    await planSchedules({ turns: this.#turns, engine: this.#engine });
  }

  /**
   * Ends a schedule. Turns of it that are stored stay.
   *
   * @param id of the schedule
   * @returns whether there was such a schedule
   */
  unschedule(id: string): Promise<boolean> {
    return this.#turns.deleteSchedule(id);
  }

  /**
   * All schedules that are stored.
   *
   * @returns the schedules
   */
  schedules(): Promise<StoredSchedule[]> {
    return this.#turns.schedules();
  }

  /**
   * Runs turns in this process until `close` of the worker.
   *
   * @param options the agent, how many turns at once, and times in milliseconds
   * @returns the worker, which takes turns now
   * @throws `CONFIG_INVALID` for an option that is not what it must be
   * @throws what the engine throws when it does not answer
   */
  async startWorker(options: WorkerOptions): Promise<TurnWorker> {
    const worker = new TurnWorker(options, { engine: this.#engine, turns: this.#turns });
    await worker.start();
    return worker;
  }

  /**
   * The events of a session's turns, also those to come.
   *
   * @param sessionId of the session
   * @param options `after`: the position of the last event that is known; and a signal, which ends
   * the wait
   * @returns events with their positions
   */
  watch(sessionId: string, options?: WatchOptions): AsyncIterable<WatchedEvent> {
    return watchTurns(this.#turns, sessionId, options);
  }

  /**
   * Decides on a call that waits, and lets its turn go on.
   *
   * @param agent of the fleet's workers
   * @param approval as the event showed it, with its session
   * @param decision yes or no
   * @throws as `AgentLoop.decide`
   */
  async decide(
    { loop }: WorkerAgent,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'> & { sessionId: string },
    decision: CallDecision,
  ): Promise<void> {
    const { sessionId } = approval;
    // Scheduled first: if this process ends after the decision, the turn still looks for it.
    await this.#turns.wake(sessionId, { delayMs: DECISION_DELAY_MS });
    await loop.decide(sessionId, approval, decision);
    await this.wake(sessionId);
  }

  /**
   * Answers a request with the events of a session, as server-sent events: `await fleet.stream(id, req,
   * res)` is a whole handler. A browser that lost its connection goes on after what it has seen. Who may
   * see the session is for the handler to check, before.
   *
   * @param sessionId of the session
   * @param request of the browser, whose `Last-Event-ID` is read
   * @param response that the events are written to
   */
  stream(sessionId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    return streamEvents((options) => this.watch(sessionId, options), request, response);
  }

  /**
   * Has a paused turn look for decisions that were made elsewhere.
   *
   * @param sessionId of the session
   */
  async wake(sessionId: string): Promise<void> {
    if (await this.#turns.wake(sessionId)) await this.#tell(() => this.#engine.wake(sessionId));
  }

  /**
   * Ends a turn. One that runs ends soon, as `aborted`.
   *
   * @param turnId as `enqueue` gave it
   * @returns `false` for a turn that was over, or is not stored
   */
  async cancel(turnId: string): Promise<boolean> {
    const isCancelled = await this.#turns.cancel(turnId);
    const turn = await this.#turns.get(turnId);
    if (turn === null) return false;
    await this.#tell(() => this.#engine.cancel(turn));
    // The turn may now run to its end, or let other turns begin.
    if (turn.state !== 'running') await this.#tell(() => this.#engine.wake(turn.sessionId));
    return isCancelled;
  }

  /**
   * A turn as it is stored.
   *
   * @param turnId as `enqueue` gave it
   * @returns `null` for an unknown turn
   */
  turn(turnId: string): Promise<StoredTurn | null> {
    return this.#turns.get(turnId);
  }

  /**
   * How many turns there are in each state, which are due, and what an operator has to fix.
   *
   * @returns the figures
   */
  async health(): Promise<FleetHealth> {
    const [turns, due, problem] = await Promise.all([
      this.#turns.counts(),
      this.#turns.due(),
      this.#engine.problem(),
    ]);
    return { turns, ...due, problems: problem === undefined ? [] : [problem] };
  }

  /** Closes the engine. Workers are closed before. */
  close(): Promise<void> {
    return this.#engine.close();
  }

  /** What stands in the turn store is not lost with what the engine was not told. */
  async #tell(word: () => Promise<void>): Promise<void> {
    await word().catch(() => {});
  }
}

/**
 * A fleet: turns are stored once, and run on any worker.
 *
 * @param options the store of the turns, and the engine; an engine for this process when absent
 * @returns the fleet
 * @example const fleet = createFleet({ turns: createSqliteTurns({ path: 'turns.db' }) });
 */
export function createFleet(options: FleetOptions): Fleet {
  return new Fleet(options);
}
