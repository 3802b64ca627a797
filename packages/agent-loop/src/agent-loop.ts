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

  /**
   * A host calls `createAgent` of `@ethosagent/wiring` instead, unless it puts the parts together
   * itself.
   *
   * @param options the model, the tools, the sessions, limits and prices
   * @throws `CONFIG_INVALID` for a limit that is not above zero, and a negative price
   */
  constructor(options: AgentLoopOptions) {
    this.#runner = new TurnRunner(options);
  }

  /**
   * Begins a turn. What went wrong before the event `start` is thrown, later errors are events.
   * Whoever stops reading ends the turn, which `resume` can then go on with.
   *
   * @param input the session, the prompt and its attachments
   * @returns the events, in order; the last one is `done`
   * @throws `TURN_INVALID` for a blank prompt without attachments, when the last turn of the session is
   * not finished, or what is stored of it can't be read; `SESSION_CHANGED` when another process writes
   * to the session; `SESSION_OWNER_MISMATCH`, `CONFIG_INVALID`
   */
  run(input: TurnInput): AsyncIterable<AgentEvent> {
    return this.#runner.run(input);
  }

  /**
   * Goes on with the last turn: asks the model again whose answer broke off, runs calls that had not
   * begun and those that were approved, and tells the model of calls that may have run.
   *
   * @param input the session, and a signal
   * @returns the events, in order; the last one is `done`
   * @throws as `run`; `TURN_INVALID` when there is nothing to go on with, or the turn began under
   * another personality
   */
  resume(input: ResumeInput): AsyncIterable<AgentEvent> {
    return this.#runner.resume(input);
  }

  /**
   * Runs a turn and waits for its end.
   *
   * @param input the session, the prompt and its attachments
   * @returns the last event, with the `error` of a turn that failed
   * @throws as `run`
   * @throws `TURN_INVALID` when the turn ended without its last event
   */
  async ask(input: TurnInput): Promise<TurnDone> {
    for await (const event of this.run(input)) if (event.type === 'done') return event;
    throw new EthosError('TURN_INVALID', 'the turn was ended before it was over');
  }

  /**
   * How a session stands, as it is stored. A turn that this loop runs is `unfinished`.
   *
   * @param sessionId of the session
   * @returns `idle`, `paused` where all open calls wait for a decision, or `unfinished`
   */
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
   * The calls that the last turn waits for, decided or not. `pending` of a `ToolSession` lists them
   * too, and its `decide` decides on them.
   *
   * @param sessionId of the session
   * @returns the calls, the oldest first
   */
  async pending(sessionId: string): Promise<PendingApproval[]> {
    const { log, ledger } = await this.#runner.journal(sessionId);
    const { turn } = log.turn ?? {};
    const open = new Set(log.openCalls().map(({ call }) => call.id));
    const all = await this.#runner.approvals(sessionId, ledger).session.list();
    return all.filter((asked) => asked.turn === turn && open.has(asked.toolCallId));
  }

  /**
   * Decides on a call that waits. `resume` then carries it out. Any process may decide.
   *
   * @param sessionId of the session
   * @param approval as the event, `pending` or `done` showed it
   * @param decision yes or no; with other arguments, those run instead
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
   * Takes out a call that waits, decided or not. It does not run, and the model hears of it with
   * `resume`.
   *
   * @param sessionId of the session
   * @param approval as the event, `pending` or `done` showed it
   * @returns whether it waited
   */
  withdraw(
    sessionId: string,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
  ): Promise<boolean> {
    return this.#runner.withdraw(sessionId, approval);
  }

  /**
   * The grants that hold in a session under the personality of the loop.
   *
   * @param sessionId of the session
   * @returns the grants
   */
  async grants(sessionId: string): Promise<SessionGrant[]> {
    return this.#runner.grants(sessionId);
  }

  /**
   * Ends a grant.
   *
   * @param sessionId of the session
   * @param grantId as `grants` shows it
   * @returns whether there was such a grant
   */
  revoke(sessionId: string, grantId: string): Promise<boolean> {
    return this.#runner.revoke(sessionId, grantId);
  }

  /**
   * Ends an unfinished turn without going on with it, so that a new one can begin.
   *
   * @param sessionId of the session
   * @param opts `claim`: the caller's hold on the session
   * @throws `TURN_INVALID` when no turn is unfinished, or it runs in this process
   * @throws `SESSION_CHANGED` when another process writes to the session
   * @throws `SESSION_TAKEN` when somebody else holds it
   */
  async abandon(sessionId: string, opts: { claim?: TurnClaim } = {}): Promise<void> {
    this.#runner.assertNotRunning(sessionId);
    const journal = await this.#runner.journal(sessionId, opts.claim);
    const { turn } = unfinished(journal.log);
    const open = journal.log.openCalls();
    // Comes first: once the turn has ended, nobody may decide on its questions.
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
   * Takes a session for turns that run here, so that no other process runs it. Extend it before
   * `leaseMs` are over, and release it at the end.
   *
   * @param sessionId of the session
   * @param leaseMs milliseconds, up to a day
   * @returns the hold; `undefined` while somebody else has the session
   * @throws `CONFIG_INVALID` for a store that can't hold sessions
   * @throws as `SessionStore.claim`
   */
  async hold(sessionId: string, leaseMs: number): Promise<HeldSession | undefined> {
    const store = claimingStore(this.#runner.options.sessions);
    return holdSession(store, await this.#runner.ref(sessionId), leaseMs);
  }

  /**
   * Extends holds. One that is over is marked as lost.
   *
   * @param held what `hold` gave
   * @param leaseMs milliseconds from now, up to a day
   * @throws as `SessionStore.renew`
   */
  extend(held: readonly HeldSession[], leaseMs: number): Promise<void> {
    return renewHeld(claimingStore(this.#runner.options.sessions), held, leaseMs);
  }

  /**
   * Gives up a session that is held.
   *
   * @param held what `hold` gave
   * @throws as `SessionStore.release`
   */
  async release(held: HeldSession): Promise<void> {
    const { sessionId, epoch } = held;
    held.lose();
    await claimingStore(this.#runner.options.sessions).release({ sessionId, epoch });
  }

  /**
   * Ends what runs in a session, with its sub-agents and what its tools left running, and waits for
   * it. A turn that runs stays unfinished.
   *
   * @param sessionId of the session
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
