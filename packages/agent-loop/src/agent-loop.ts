import {
  type CallDecision,
  type PendingApproval,
  type SessionGrant,
  withProblems,
} from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import type {
  AgentEvent,
  AgentLoopOptions,
  ResumeInput,
  SessionState,
  TurnClaim,
  TurnInput,
} from './api.js';
import { claimingStore, type HeldSession, holdSession, renewHeld } from './held-session.js';
import { interrupted, notRun, resultRecord } from './turn-calls.js';
import { TurnRunner, unfinished } from './turn-runner.js';

/** How the last event of a turn looks. */
export type TurnDone = Extract<AgentEvent, { type: 'done' }>;

/** Runs conversations over a model and the tools of a registry, one turn after the other. */
export class AgentLoop {
  readonly #runner: TurnRunner;

  /** @throws `CONFIG_INVALID` for a limit that limits nothing, and a price that is none */
  constructor(options: AgentLoopOptions) {
    this.#runner = new TurnRunner(options);
  }

  /**
   * Begins a turn. What went wrong before the event `start` is thrown, later errors are events.
   * Whoever stops reading ends the turn, which `resume` can then go on with.
   *
   * @throws `TURN_INVALID` for a blank prompt, when the last turn of the session is not finished, or
   * what is stored of it can't be read; `SESSION_CHANGED` when another process writes to the session;
   * `SESSION_OWNER_MISMATCH`, `CONFIG_INVALID`
   */
  run(input: TurnInput): AsyncIterable<AgentEvent> {
    return this.#runner.run(input);
  }

  /**
   * Goes on with the last turn: asks the model again whose answer broke off, runs calls that had not
   * begun and those that were approved, and tells the model of calls that may have run.
   *
   * @throws as `run`; `TURN_INVALID` when there is nothing to go on with, or the turn began under
   * another personality
   */
  resume(input: ResumeInput): AsyncIterable<AgentEvent> {
    return this.#runner.resume(input);
  }

  /** Runs a turn and gives its last event, with the `error` of one that failed. @throws as `run` */
  async ask(input: TurnInput): Promise<TurnDone> {
    for await (const event of this.run(input)) if (event.type === 'done') return event;
    throw new EthosError('TURN_INVALID', 'the turn was ended before it was over');
  }

  /** How a session stands, as it is stored. A turn that this loop runs is `unfinished`. */
  async state(sessionId: string): Promise<SessionState> {
    if (this.#runner.isRunning(sessionId)) return 'unfinished';
    const { log } = await this.#runner.journal(sessionId);
    if (log.turn === undefined || log.turn.end !== undefined) return 'idle';
    const open = log.openCalls();
    const allWait = open.every(({ approval }) => approval !== undefined && !approval.decision);
    return open.length > 0 && allWait ? 'paused' : 'unfinished';
  }

  /** The calls that were asked about and are not answered yet, decided or not. */
  async pending(sessionId: string): Promise<PendingApproval[]> {
    const { log } = await this.#runner.journal(sessionId);
    return withProblems(
      log.openCalls().flatMap(({ approval }) => approval ?? []),
      this.#runner.options.tools,
    );
  }

  /**
   * Decides on a call that waits; `resume` then does it. From any process.
   *
   * @param approval as the event, `pending` or `done` showed it
   * @param decision with other arguments: they run in place of those that were proposed
   * @throws `TURN_INVALID` when no such call waits, or it asks for something else by now;
   * `ALREADY_DECIDED` when another decision was made; `APPROVAL_INVALID` for a grant that the personality forbids;
   * `INPUT_INVALID` for arguments that the tool does not take
   */
  decide(
    sessionId: string,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void> {
    return this.#runner.decide(sessionId, approval, decision);
  }

  /** The grants that hold in a session under the personality of the loop. */
  async grants(sessionId: string): Promise<SessionGrant[]> {
    return this.#runner.grants(sessionId);
  }

  /** Ends a grant, and says whether it was there. */
  revoke(sessionId: string, grantId: string): Promise<boolean> {
    return this.#runner.revoke(sessionId, grantId);
  }

  /**
   * Ends an unfinished turn without going on with it, so that a new one can begin.
   *
   * @param opts `claim`: of who holds the session
   * @throws `TURN_INVALID` when there is none, or it runs; `SESSION_CHANGED`, `SESSION_TAKEN`
   */
  async abandon(sessionId: string, opts: { claim?: TurnClaim } = {}): Promise<void> {
    this.#runner.assertNotRunning(sessionId);
    const journal = await this.#runner.journal(sessionId, opts.claim);
    const { turn } = unfinished(journal.log);
    const answers = journal.log.openCalls().map((logged) =>
      resultRecord(turn, logged, {
        result: logged.started ? interrupted() : notRun('the turn was given up', 'CALL_ABORTED'),
        isMarked: false,
        isUntrusted: false,
      }),
    );
    await journal.append(...answers, { kind: 'end', turn, end: 'aborted' });
  }

  /**
   * Takes a session for turns that run here, so that no other process runs it. It has to be extended
   * before `leaseMs` milliseconds are over, and released.
   *
   * @returns `undefined` while somebody else holds it
   * @throws `CONFIG_INVALID` for a store that can not hold sessions; as `SessionStore.claim`
   */
  async hold(sessionId: string, leaseMs: number): Promise<HeldSession | undefined> {
    const store = claimingStore(this.#runner.options.sessions);
    return holdSession(store, await this.#runner.ref(sessionId), leaseMs);
  }

  /** Extends what is held; what is not any more says so. @throws as `SessionStore.renew` */
  extend(held: readonly HeldSession[], leaseMs: number): Promise<void> {
    return renewHeld(claimingStore(this.#runner.options.sessions), held, leaseMs);
  }

  /** Gives up a session that is held. @throws as `SessionStore.release` */
  async release(held: HeldSession): Promise<void> {
    const { sessionId, epoch } = held;
    held.lose();
    await claimingStore(this.#runner.options.sessions).release({ sessionId, epoch });
  }

  /**
   * Ends what runs in a session, its sub-agents and what its tools left running included, and waits
   * for it. A turn that runs stays unfinished.
   */
  endSession(sessionId: string): Promise<void> {
    return this.#runner.endSession(sessionId);
  }

  /**
   * Ends the turns that run, which stay unfinished and give no more events, and all sub-agents, and
   * waits for them.
   */
  close(): Promise<void> {
    return this.#runner.close();
  }
}
