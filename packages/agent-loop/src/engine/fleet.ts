import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallDecision, PendingApproval } from '@ethosagent/core';
import { isObject, type OptionNames, unknownOption } from '@ethosagent/policy';
import {
  EthosError,
  type NewSchedule,
  type NewTurn,
  type StoredSchedule,
  type StoredTurn,
  type TurnState,
  type TurnStore,
} from '@ethosagent/types';
import type { Engine } from './engine.js';
import { assertFleetParts, loopOf } from './fleet-parts.js';
import { createLocalEngine } from './local-engine.js';
import { nextTime, planSchedules, timeProblem } from './plan-schedules.js';
import { streamEvents } from './stream-events.js';
import { type WatchedEvent, type WatchOptions, watchTurns } from './watch.js';
import { TurnWorker, type WorkerAgent, type WorkerOptions } from './worker.js';

/** The store and the engine that all workers of a fleet share. */
export interface FleetOptions {
  /** The store of the turns: `createPostgresTurns`, or `createSqliteTurns` on one machine. */
  turns: TurnStore;
  /**
   * The engine that wakes workers. When absent, `createLocalEngine()`, which wakes those of this
   * process.
   */
  engine?: Engine;
}

/** A turn for any worker. */
export type EnqueueInput = Omit<NewTurn, 'id'> & {
  /**
   * The id of the turn. A turn with a stored id is not stored again, so it does not run twice. A
   * new id when absent.
   */
  id?: string;
};

/** Turns that run side by side, and one turn after them. */
export interface FlowInput {
  /**
   * The id of the flow and of its last turn. A flow with the same id runs only once. A new id when
   * absent.
   */
  id?: string;
  /** The turns that run side by side. A turn without a `sessionId` has a session of its own. */
  turns: readonly (Omit<EnqueueInput, 'sessionId' | 'after'> & { sessionId?: string })[];
  /**
   * The turn that begins when all others have ended. Its prompt ends with their answers as
   * untrusted content, at most 200,000 characters in all.
   */
  last: Omit<EnqueueInput, 'id' | 'after'>;
}

/** The state of a fleet. */
export interface FleetHealth {
  turns: Record<TurnState, number>;
  /**
   * How many turns could run now, plus the schedules whose time has come. At most 1,000 of each are
   * counted.
   */
  due: number;
  /** Milliseconds until there is more to do. Absent when nothing is planned. */
  nextInMs?: number;
  /** What an operator has to fix. Empty if the fleet works. */
  problems: string[];
}

/**
 * How many milliseconds later a decision is looked for, in case its maker ends before it can wake
 * the turn.
 */
const DECISION_DELAY_MS = 2_000;

/** Stores turns of sessions, and lets any number of workers run them. */
export class Fleet {
  readonly #engine: Engine;
  readonly #turns: TurnStore;

  /**
   * `createFleet` calls this.
   *
   * @param options the store of the turns, and the engine
   * @throws `CONFIG_INVALID` for an invalid option
   */
  constructor(options: FleetOptions) {
    assertFleetParts('createFleet', options);
    const { engine = createLocalEngine(), turns } = options;
    this.#engine = engine;
    this.#turns = turns;
  }

  /**
   * Stores a turn. After this resolves, a worker will run the turn, even if this process ends.
   *
   * @param turn the session and the prompt; a turn with a stored `id` is not stored again
   * @returns the id of the turn
   * @throws `VALUE_INVALID` for an invalid field
   * @throws `KEY_INVALID` for an invalid id
   * @throws `STORE_UNAVAILABLE` if the store does not answer
   */
  async enqueue(turn: EnqueueInput): Promise<string> {
    const { id = randomUUID(), ...fields }: EnqueueInput = Object(turn);
    await this.#turns.put({ id, ...fields });
    const { sessionId, delayMs = 0, priority = 0 } = fields;
    await this.#tell(() => this.#engine.enqueue({ id, taking: 0, sessionId, delayMs, priority }));
    return id;
  }

  /**
   * Stores turns for any workers, and one turn that runs after all of them. No worker waits in the
   * meantime.
   *
   * @param flow the turns, and the last one
   * @returns the id of the last turn, and the ids of the others in their order
   * @throws as `enqueue`
   */
  async flow(flow: FlowInput): Promise<{ id: string; turns: string[] }> {
    assertFlow(flow);
    const { id = randomUUID(), turns, last } = flow;
    const named = turns.map((turn, n) => ({ id: `${id}/${n + 1}`, ...turn }));
    // Stored first, since the last turn waits only for turns that exist.
    for (const turn of named) await this.enqueue({ sessionId: turn.id, ...turn });
    const after = named.map((turn) => turn.id);
    await this.enqueue({ ...last, id, after });
    return { id, turns: after };
  }

  /**
   * Runs a turn on a schedule. A schedule with the same id is replaced. An equal schedule is left
   * unchanged, so each machine may call this when it starts.
   *
   * @param schedule the times, as cron, and the turn
   * @throws `VALUE_INVALID` for an invalid field, or for times that never come
   * @throws `KEY_INVALID` for an invalid id
   * @throws `STORE_UNAVAILABLE` if the store does not answer
   */
  async schedule(schedule: NewSchedule): Promise<void> {
    nextTime(Object(schedule), Date.now());
    await this.#turns.putSchedule(schedule);
    await planSchedules({ turns: this.#turns, engine: this.#engine });
  }

  /**
   * Ends a schedule. Its turns that are already stored stay.
   *
   * @param id the id of the schedule
   * @returns whether the schedule existed
   */
  unschedule(id: string): Promise<boolean> {
    return this.#turns.deleteSchedule(id);
  }

  /**
   * Lists all stored schedules.
   *
   * @returns the schedules, ordered by id
   */
  schedules(): Promise<StoredSchedule[]> {
    return this.#turns.schedules();
  }

  /**
   * Starts a worker that runs turns in this process. It stops when its `close` is called.
   *
   * @param options the agent, the number of turns that run at once, and times in milliseconds
   * @returns the started worker
   * @throws `CONFIG_INVALID` for an invalid option
   * @throws the error of an engine that does not answer
   */
  async startWorker(options: WorkerOptions): Promise<TurnWorker> {
    const worker = new TurnWorker(options, { engine: this.#engine, turns: this.#turns });
    await worker.start();
    return worker;
  }

  /**
   * Returns the stored events of a session's turns, and then new ones as they come.
   *
   * @param sessionId the id of the session
   * @param options `after`: the position of the last event that the reader has; `signal`: ends the
   * wait; `pollMs`: milliseconds between two reads
   * @returns the events with their positions; its first read throws `CONFIG_INVALID` for an invalid option
   */
  watch(sessionId: string, options?: WatchOptions): AsyncIterable<WatchedEvent> {
    return watchTurns(this.#turns, sessionId, options);
  }

  /**
   * Decides on a waiting call, and continues its turn.
   *
   * @param agent the agent of the fleet's workers
   * @param approval as the event showed it, with its session
   * @param decision yes or no
   * @throws as `AgentLoop.decide`
   */
  async decide(
    agent: WorkerAgent,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'> & { sessionId: string },
    decision: CallDecision,
  ): Promise<void> {
    const loop = loopOf('decide', agent);
    const { sessionId } = Object(approval);
    // Scheduled first: if this process ends after the decision, the turn still looks for it.
    await this.#turns.wake(sessionId, { delayMs: DECISION_DELAY_MS });
    await loop.decide(sessionId, approval, decision);
    await this.wake(sessionId);
  }

  /**
   * Answers a request with the events of a session, as server-sent events. `await fleet.stream(id,
   * req, res)` is a whole handler. A browser that lost its connection continues after the last
   * event that it has. Before you call this, check who may read the session.
   *
   * @param sessionId the id of the session
   * @param request the request of the browser; its header `Last-Event-ID` or its query `?after=` is
   * read
   * @param response the response that receives the events
   */
  stream(sessionId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    return streamEvents((options) => this.watch(sessionId, options), request, response);
  }

  /**
   * Lets a paused turn look for decisions that were made elsewhere.
   *
   * @param sessionId the id of the session
   */
  async wake(sessionId: string): Promise<void> {
    if (await this.#turns.wake(sessionId)) await this.#tell(() => this.#engine.wake(sessionId));
  }

  /**
   * Cancels a turn. A turn that runs ends soon, as `aborted`.
   *
   * @param turnId the id that `enqueue` returned
   * @returns `false` if the turn had already ended, or is not stored
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
   * Reads a stored turn.
   *
   * @param turnId the id that `enqueue` returned
   * @returns the turn; `null` for an unknown id
   */
  turn(turnId: string): Promise<StoredTurn | null> {
    return this.#turns.get(turnId);
  }

  /**
   * Counts the turns in each state and the turns that are due, and lists what an operator has to
   * fix.
   *
   * @returns the counts and the problems
   */
  async health(): Promise<FleetHealth> {
    const [turns, due, problem, schedules] = await Promise.all([
      this.#turns.counts(),
      this.#turns.due(),
      this.#engine.problem(),
      this.#turns.schedules(),
    ]);
    const unplanned = schedules.map(({ schedule }) => timeProblem(schedule, Date.now()));
    return { turns, ...due, problems: [problem, ...unplanned].flatMap((each) => each ?? []) };
  }

  /** Closes the engine. Close the workers first. */
  close(): Promise<void> {
    return this.#engine.close();
  }

  /**
   * Tells the engine. Errors are ignored: the turn store keeps every turn that the engine did not
   * hear of.
   */
  async #tell(word: () => Promise<void>): Promise<void> {
    await word().catch(() => {});
  }
}

const FLOW: OptionNames<FlowInput> = { id: true, turns: true, last: true };

/** @throws `VALUE_INVALID` */
function assertFlow(flow: unknown): void {
  const problem = isObject(flow)
    ? (unknownOption(flow, FLOW) ??
      (Array.isArray(flow.turns) ? undefined : 'turns is a list of turns'))
    : 'give an object with turns and last';
  if (problem !== undefined) throw new EthosError('VALUE_INVALID', `a flow: ${problem}`);
}

/**
 * Creates a fleet. It stores each turn once, and any worker may run it.
 *
 * @param options the store of the turns, and the engine; an engine for this process when absent
 * @returns the fleet
 * @throws `CONFIG_INVALID` for an invalid option
 * @example const fleet = createFleet({ turns: createSqliteTurns({ path: 'turns.db' }) });
 */
export function createFleet(options: FleetOptions): Fleet {
  return new Fleet(options);
}
