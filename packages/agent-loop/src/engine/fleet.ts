import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallDecision, PendingApproval } from '@ethosagent/core';
import type { NewTurn, StoredTurn, TurnState, TurnStore } from '@ethosagent/types';
import type { Engine } from './engine.js';
import { streamEvents } from './stream-events.js';
import { type WatchedEvent, type WatchOptions, watchTurns } from './watch.js';
import { TurnWorker, type WorkerAgent, type WorkerOptions } from './worker.js';

/** What a fleet of workers shares. */
export interface FleetOptions {
  engine: Engine;
  turns: TurnStore;
}

/** A turn to be run by some worker. */
export type EnqueueInput = Omit<NewTurn, 'id'> & {
  /** So that the same turn is not run twice, whoever enqueues it again. Made when absent. */
  id?: string;
};

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

  constructor({ engine, turns }: FleetOptions) {
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
    if (turn.state === 'waiting') await this.#tell(() => this.#engine.wake(turn.sessionId));
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

/** @example const fleet = createFleet({ engine: createLocalEngine(), turns }); */
export function createFleet(options: FleetOptions): Fleet {
  return new Fleet(options);
}
