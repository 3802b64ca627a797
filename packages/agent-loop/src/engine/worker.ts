import { setMaxListeners } from 'node:events';
import { assertOptions, MAX_LEASE_MS, MAX_TIMER_MS, type OptionNames } from '@ethosagent/policy';
import { EthosError, type StoredTurn, type TurnOutcome, type TurnStore } from '@ethosagent/types';
import type { AgentLoop } from '../agent-loop.js';
import type { HeldSession } from '../held-session.js';
import type { Engine, EngineWorker } from './engine.js';
import { assertFleetParts, loopOf } from './fleet-parts.js';
import { planSchedules } from './plan-schedules.js';
import { giveUp, runTurn } from './run-turn.js';
import { TurnEvents } from './turn-events.js';

/** An agent that runs turns. `createAgent` returns one. */
export interface WorkerAgent {
  readonly loop: AgentLoop;
}

export interface WorkerOptions {
  /** The agent that `createAgent` returned. All workers must share the store of its sessions. */
  agent: WorkerAgent;
  /** The most turns that run at once. 4 when absent. */
  concurrency?: number;
  /**
   * The milliseconds after which another worker takes the turns of a worker that died. 15,000 when
   * absent.
   */
  leaseMs?: number;
  /** The milliseconds between two looks for turns that the engine forgot. 5,000 when absent. */
  sweepMs?: number;
  /**
   * The milliseconds that `close` waits for running steps before it leaves them. 30,000 when
   * absent.
   */
  drainMs?: number;
  /**
   * How often a turn may lose its worker. After one more loss, the turn is given up. 5 when absent.
   */
  maxLosses?: number;
  /** The milliseconds that turns and their events are kept after they ended. A day when absent. */
  keepMs?: number;
}

/** What a worker has done since it started. */
export interface WorkerMetrics {
  /** The turns that run now. */
  running: number;
  /** How often the worker took a turn. The fields below count how these turns went. */
  taken: number;
  /** The turns that ended. */
  done: number;
  /** How often a turn began to wait for a decision. */
  paused: number;
  /** How often a turn failed and waits for another attempt. */
  retried: number;
  /** The turns that were given up. */
  failed: number;
  /** The turns that somebody cancelled. */
  cancelled: number;
  /**
   * How often the worker gave a turn back for another worker: because it was closing, or because
   * somebody else held the session.
   */
  handedOver: number;
  /** The turns that another worker may have, because the lease ended here. */
  lost: number;
}

interface Running {
  turn: StoredTurn;
  held: HeldSession;
  cancel: AbortController;
  leave: AbortController;
}

const MIN_WAIT_MS = 200;

const OPTIONS: OptionNames<WorkerOptions> = {
  agent: true,
  concurrency: true,
  leaseMs: true,
  sweepMs: true,
  drainMs: true,
  maxLosses: true,
  keepMs: true,
};

/** Runs the turns of a fleet in this process. */
export class TurnWorker {
  readonly #loop: AgentLoop;
  readonly #engine: Engine;
  readonly #turns: TurnStore;
  readonly #options: Required<Omit<WorkerOptions, 'agent'>>;
  readonly #running = new Map<string, Running>();
  readonly #timers: NodeJS.Timeout[] = [];
  #worker: EngineWorker | undefined;
  #isClosing = false;
  #metrics = { ...NOTHING };

  /**
   * `Fleet.startWorker` creates a worker and starts it.
   *
   * @param options the agent, the number of turns that run at once, and times in milliseconds
   * @param fleet the engine and the turns of the fleet
   * @throws `CONFIG_INVALID` for an invalid option
   */
  constructor(options: WorkerOptions, fleet: { engine: Engine; turns: TurnStore }) {
    assertOptions('startWorker', options, OPTIONS);
    assertFleetParts('TurnWorker', fleet);
    const { agent, ...settings } = options;
    this.#loop = loopOf('startWorker', agent);
    this.#engine = fleet.engine;
    this.#turns = fleet.turns;
    this.#options = withDefaults(settings);
  }

  /** Starts to take turns. @throws the error of an engine that does not answer */
  async start(): Promise<void> {
    const { concurrency, leaseMs, sweepMs } = this.#options;
    this.#worker = await this.#engine.work({ concurrency, runNext: () => this.#runNext() });
    this.#every(Math.ceil(leaseMs / 3), () => this.#extend());
    this.#every(Math.min(1_000, Math.ceil(leaseMs / 10)), async () => this.#leaveLost());
    this.#every(sweepMs, () => this.#sweep());
    await this.#sweep().catch(() => {});
  }

  /**
   * Returns what this worker has done since it started.
   *
   * @returns a copy
   */
  metrics(): WorkerMetrics {
    return { ...this.#metrics, running: this.#running.size };
  }

  /**
   * Takes no new turns, and hands over the running ones: each at the end of its step, or all when
   * `drainMs` are over.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => {
      for (const { leave } of this.#running.values()) leave.abort();
    }, this.#options.drainMs);
    await this.#worker?.close();
    clearTimeout(timer);
    for (const each of this.#timers) clearInterval(each);
  }

  #every(ms: number, work: () => Promise<unknown>): void {
    let isBusy = false;
    const timer = setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      // If the store can't be reached, the next round asks it again.
      work()
        .catch(() => {})
        .then(() => {
          isBusy = false;
        });
    }, ms);
    this.#timers.push(timer);
  }

  async #runNext(): Promise<void> {
    const { leaseMs } = this.#options;
    if (this.#isClosing) return;
    const turn = await this.#take();
    if (turn === null) return;
    this.#metrics.taken += 1;
    let held: HeldSession | undefined;
    try {
      held = await this.#loop.hold(turn.sessionId, leaseMs);
    } catch (error) {
      await this.#settle(turn, {
        state: turn.attempts + 1 >= turn.maxAttempts ? 'failed' : 'waiting',
        isFailure: true,
        delayMs: turn.backoffMs,
        message: error instanceof Error ? error.message : 'the session could not be taken',
      });
      return;
    }
    if (held === undefined) {
      // Its holder may have died. Then it is free when the lease ends.
      await this.#settle(turn, {
        state: 'waiting',
        delayMs: Math.max(MIN_WAIT_MS, Math.ceil(leaseMs / 20)),
      });
      return;
    }
    await this.#run(turn, held);
  }

  /**
   * Takes the next turn. If none waits, plans the schedules whose time has come, and takes again.
   */
  async #take(): Promise<StoredTurn | null> {
    const { leaseMs } = this.#options;
    const turn = await this.#turns.take({ leaseMs });
    if (turn !== null || (await this.#plan()) === 0) return turn;
    return this.#turns.take({ leaseMs });
  }

  #plan(): Promise<number> {
    return planSchedules({ turns: this.#turns, engine: this.#engine });
  }

  async #run(turn: StoredTurn, held: HeldSession): Promise<void> {
    const [cancel, leave] = [new AbortController(), new AbortController()];
    for (const { signal } of [cancel, leave]) setMaxListeners(0, signal);
    if (turn.isCancelled) cancel.abort();
    this.#running.set(turn.id, { turn, held, cancel, leave });
    const events = new TurnEvents(this.#turns, turn);
    try {
      const outcome =
        turn.losses > this.#options.maxLosses
          ? await this.#giveUp(turn, held)
          : await runTurn(this.#loop, {
              turn,
              turns: this.#turns,
              held,
              cancelled: cancel.signal,
              left: leave.signal,
              isHandedOver: () => this.#isClosing,
              onEvent: (event) => events.add(event),
            });
      await events.flush();
      if (!held.isHeld) {
        this.#metrics.lost += 1;
        return;
      }
      // The session is released before other workers learn that the turn waits.
      await this.#loop.release(held).catch(() => {});
      await this.#settle(turn, outcome);
    } finally {
      held.lose();
      this.#running.delete(turn.id);
    }
  }

  async #giveUp(turn: StoredTurn, held: HeldSession): Promise<TurnOutcome> {
    await giveUp(this.#loop, { turn, held });
    const message = `the workers of the turn ended ${turn.losses} times; look at their logs, and enqueue it again`;
    return { state: 'failed', message };
  }

  async #settle(turn: StoredTurn, outcome: TurnOutcome): Promise<void> {
    // `turn.taking` is a fence, like the epoch of a session. If another worker took the turn after
    // this one's lease ended, the store changes nothing, and the outcome of this worker is dropped.
    const settled = await this.#turns.settle(turn, outcome);
    if (settled === null) {
      this.#metrics.lost += 1;
      return;
    }
    this.#count(outcome);
    const { id, sessionId, priority } = turn;
    const { delayMs = 0 } = outcome;
    const told =
      outcome.state === 'waiting'
        ? this.#engine.enqueue({ id, taking: turn.taking, sessionId, priority, delayMs })
        : settled.isMore
          ? this.#engine.wake(sessionId)
          : Promise.resolve();
    await told.catch(() => {});
  }

  #count({ state, isFailure }: TurnOutcome): void {
    if (state !== 'waiting') this.#metrics[state] += 1;
    else if (isFailure === true) this.#metrics.retried += 1;
    else this.#metrics.handedOver += 1;
  }

  async #extend(): Promise<void> {
    const { leaseMs } = this.#options;
    const running = [...this.#running.values()];
    await this.#loop.extend(
      running.map(({ held }) => held),
      leaseMs,
    );
    const taken = await this.#turns.extend(
      running.map(({ turn }) => turn),
      { leaseMs },
    );
    for (const { id, isCancelled } of taken) {
      if (isCancelled) this.#running.get(id)?.cancel.abort();
    }
    this.#leaveLost();
  }

  /** Stops the turns whose session is no longer held. Their accessors already refuse. */
  #leaveLost(): void {
    for (const { held, leave } of this.#running.values()) if (!held.isHeld) leave.abort();
  }

  async #sweep(): Promise<void> {
    const { concurrency, keepMs } = this.#options;
    if (this.#isClosing) return;
    await this.#plan();
    const { due } = await this.#turns.due();
    const free = Math.max(0, concurrency - this.#running.size);
    for (let n = 0; n < Math.min(due, free); n++) await this.#engine.wake(`sweep-${n}`);
    await this.#turns.sweep({ olderThanMs: keepMs });
  }
}

const NOTHING = {
  taken: 0,
  done: 0,
  paused: 0,
  retried: 0,
  failed: 0,
  cancelled: 0,
  handedOver: 0,
  lost: 0,
};

/** A timer that is longer fires at once. A store of sessions holds none for more than a day. */
const MOST: Readonly<Record<string, number>> = {
  leaseMs: MAX_LEASE_MS,
  sweepMs: MAX_TIMER_MS,
  drainMs: MAX_TIMER_MS,
};

function withDefaults(
  options: Omit<WorkerOptions, 'agent'>,
): Required<Omit<WorkerOptions, 'agent'>> {
  const all = {
    concurrency: 4,
    leaseMs: 15_000,
    sweepMs: 5_000,
    drainMs: 30_000,
    maxLosses: 5,
    keepMs: 86_400_000,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
  for (const [name, value] of Object.entries(all)) {
    const min = name === 'drainMs' ? 0 : 1;
    const max = MOST[name] ?? Number.MAX_SAFE_INTEGER;
    if (Number.isInteger(value) && value >= min && value <= max) continue;
    throw new EthosError(
      'CONFIG_INVALID',
      `startWorker: ${name} must be a whole number from ${min} to ${max}`,
    );
  }
  return all;
}
