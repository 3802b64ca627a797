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

/** Milliseconds after which a decision is looked for, when who made it is gone before it says so. */
const DECISION_DELAY_MS = 2_000;

/** Turns of sessions, run by any number of workers. */
export class Fleet {
  readonly #engine: Engine;
  readonly #turns: TurnStore;

  constructor({ engine = createLocalEngine(), turns }: FleetOptions) {
    this.#engine = engine;
    this.#turns = turns;
  }

  /**
   * Has a turn run by some worker. Once it resolves the turn is stored and will run, whatever ends.
   *
   * @returns the id of the turn
   * @throws `VALUE_INVALID`, `KEY_INVALID`, `STORE_UNAVAILABLE`
   */
  async enqueue({ id = randomUUID(), ...turn }: EnqueueInput): Promise<string> {
    await this.#turns.put({ id, ...turn });
    const { sessionId, delayMs = 0, priority = 0 } = turn;
    await this.#tell(() => this.#engine.enqueue({ id, taking: 0, sessionId, delayMs, priority }));
    return id;
  }

  /**
   * Has turns run on any workers, as those of sub-agents, and one after them. No worker waits for them.
   * Once it resolves all of them are stored.
   *
   * @returns the ids of the turns, and that of the last one
   * @throws as `enqueue`
   */
  async flow({
    id = randomUUID(),
    turns,
    last,
  }: FlowInput): Promise<{ id: string; turns: string[] }> {
    const named = turns.map((turn, n) => ({ id: `${id}/${n + 1}`, ...turn }));
    // Before it, or it would not wait for them.
    for (const turn of named) await this.enqueue({ sessionId: turn.id, ...turn });
    const after = named.map((turn) => turn.id);
    await this.enqueue({ ...last, id, after });
    return { id, turns: after };
  }

  /**
   * Has a turn run again and again. A schedule with the same id is replaced; one that is the same goes
   * on as it was, so that each machine can say it when it starts.
   *
   * @throws `VALUE_INVALID`, `KEY_INVALID`, `STORE_UNAVAILABLE`
   */
  async schedule(schedule: NewSchedule): Promise<void> {
    nextTime(schedule, Date.now());
    await this.#turns.putSchedule(schedule);
    await planSchedules({ turns: this.#turns, engine: this.#engine });
  }

  /** Ends a schedule, and says whether it was there. Turns of it that are stored stay. */
  unschedule(id: string): Promise<boolean> {
    return this.#turns.deleteSchedule(id);
  }

  schedules(): Promise<StoredSchedule[]> {
    return this.#turns.schedules();
  }

  /** Runs turns here, until `close`. @throws `CONFIG_INVALID`; as the engine does */
  async startWorker(options: WorkerOptions): Promise<TurnWorker> {
    const worker = new TurnWorker(options, { engine: this.#engine, turns: this.#turns });
    await worker.start();
    return worker;
  }

  /** The events of a session's turns after a position, those to come included. */
  watch(sessionId: string, options?: WatchOptions): AsyncIterable<WatchedEvent> {
    return watchTurns(this.#turns, sessionId, options);
  }

  /**
   * Decides on a call that waits, and has its turn go on.
   *
   * @throws as `AgentLoop.decide`
   */
  async decide(
    { loop }: WorkerAgent,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'> & { sessionId: string },
    decision: CallDecision,
  ): Promise<void> {
    const { sessionId } = approval;
    // Before: who dies in between leaves a turn that looks for the decision.
    await this.#turns.wake(sessionId, { delayMs: DECISION_DELAY_MS });
    await loop.decide(sessionId, approval, decision);
    await this.wake(sessionId);
  }

  /**
   * Answers a request with the events of a session, as server-sent events: `await fleet.stream(id, req,
   * res)` is a whole handler. A browser that lost its connection goes on after what it has seen. Who may
   * see the session is for the handler to check, before.
   */
  stream(sessionId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    return streamEvents((options) => this.watch(sessionId, options), request, response);
  }

  /** Has a paused turn look for decisions that were made elsewhere. */
  async wake(sessionId: string): Promise<void> {
    if (await this.#turns.wake(sessionId)) await this.#tell(() => this.#engine.wake(sessionId));
  }

  /** Ends a turn. One that runs ends soon, as `aborted`. Says whether it was not over. */
  async cancel(turnId: string): Promise<boolean> {
    const isCancelled = await this.#turns.cancel(turnId);
    const turn = await this.#turns.get(turnId);
    if (turn === null) return false;
    await this.#tell(() => this.#engine.cancel(turn));
    // It may run its end, or let others begin.
    if (turn.state !== 'running') await this.#tell(() => this.#engine.wake(turn.sessionId));
    return isCancelled;
  }

  turn(turnId: string): Promise<StoredTurn | null> {
    return this.#turns.get(turnId);
  }

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

/** @example const fleet = createFleet({ turns: createSqliteTurns({ path: 'turns.db' }) }); */
export function createFleet(options: FleetOptions): Fleet {
  return new Fleet(options);
}
