import type { CallDecision, PendingApproval, SessionGrant } from '@ethosagent/core';
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
import { recordAnswers } from './record-answers.js';
import { interrupted, notRun, resultRecord } from './turn-calls.js';
import { TurnRunner, unfinished } from './turn-runner.js';

/** How the last event of a turn looks. */
export type TurnDone = Extract<AgentEvent, { type: 'done' }>;

/** Runs conversations over a model and the tools of a registry, one turn after the other. */
export class AgentLoop {
  readonly #runner: TurnRunner;

  /** @throws `CONFIG_INVALID` for a limit that is not above zero, and a negative price */
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
    const { log, ledger } = await this.#runner.journal(sessionId);
    if (log.turn === undefined || log.turn.end !== undefined) return 'idle';
    const open = log.openCalls();
    const questions = this.#runner.approvals(sessionId, ledger).questions(log.turn.turn);
    await questions.refresh();
    const allWait = open.every((logged) => questions.isUndecided(logged));
    return open.length > 0 && allWait ? 'paused' : 'unfinished';
  }

  /**
   * The calls that the last turn waits for, decided or not. They are among those that `pending` of a
   * `ToolSession` lists, which decides on them too.
   */
  async pending(sessionId: string): Promise<PendingApproval[]> {
    const { log, ledger } = await this.#runner.journal(sessionId);
    const { turn } = log.turn ?? {};
    const open = new Set(log.openCalls().map(({ call }) => call.id));
    const all = await this.#runner.approvals(sessionId, ledger).session.list();
    return all.filter((asked) => asked.turn === turn && open.has(asked.toolCallId));
  }

  /**
   * Decides on a call that waits; `resume` then does it. From any process.
   *
   * @param approval as the event, `pending` or `done` showed it
   * @param decision with other arguments: they run in place of those that were proposed
   * @throws as `ToolSession.decide`
   */
  decide(
    sessionId: string,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void> {
    return this.#runner.decide(sessionId, approval, decision);
  }

  /**
   * Takes a call out that waits, decided or not: it does not run, and the model is told with `resume`.
   * Says whether it was there.
   */
  withdraw(
    sessionId: string,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
  ): Promise<boolean> {
    return this.#runner.withdraw(sessionId, approval);
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
    const open = journal.log.openCalls();
    // First: nobody is to decide on what is over.
    await this.#runner.approvals(sessionId, journal.ledger).questions(turn).settle(open);
    const given = open.map((logged) => ({
      logged,
      result: logged.started
        ? interrupted(logged)
        : notRun('the turn was given up', 'CALL_ABORTED'),
    }));
    const told = await recordAnswers(given, {
      options: this.#runner.options,
      sessionId,
      currentTurn: turn,
      messageCount: journal.log.messageCount,
    });
    const answers = told.map(({ logged, result }) =>
      resultRecord(turn, logged, { result, isMarked: false, isUntrusted: false }),
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
