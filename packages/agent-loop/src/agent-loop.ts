import {
  assertIdentity,
  type CallDecision,
  type PendingApproval,
  type SessionGrant,
} from '@ethosagent/core';
import {
  assertOptions,
  assertOptionValues,
  isFunction,
  isObject,
  isString,
  type OptionNames,
  type OptionValues,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type {
  AgentEvent,
  AgentLoopOptions,
  ResumeInput,
  SessionState,
  TurnClaim,
  TurnInput,
} from './api.js';
import { CLAIM, unfinished } from './begin-turn.js';
import { claimingStore, type HeldSession, holdSession, renewHeld } from './held-session.js';
import { recordAnswers } from './record-answers.js';
import { interrupted, notRun, resultRecord } from './turn-calls.js';
import { TurnRunner } from './turn-runner.js';

/** The last event of a turn. */
export type TurnDone = Extract<AgentEvent, { type: 'done' }>;

const OPTIONS: OptionNames<AgentLoopOptions> = {
  model: true,
  tools: true,
  sessions: true,
  personality: true,
  instructions: true,
  identity: true,
  limits: true,
  retries: true,
  prices: true,
  delegation: true,
  context: true,
  toolSearch: true,
  approve: true,
  onInternal: true,
  toolImages: true,
  imageScaler: true,
  modelSettings: true,
  now: true,
};

/** For workers: the key of a session's last turn; `undefined` if it has ended or has no key. */
export let openKeyOf: (loop: AgentLoop, sessionId: string) => Promise<string | undefined>;

const OBJECT = [isObject, 'an object'] as const;
const OBJECT_OR_FALSE = [
  (value: unknown) => value === false || isObject(value),
  'an object, or false',
] as const;
const VALUES: OptionValues<AgentLoopOptions> = {
  personality: [isString, 'the id of a personality'],
  instructions: [isString, 'a text'],
  identity: OBJECT,
  limits: OBJECT,
  retries: OBJECT,
  prices: OBJECT,
  delegation: OBJECT,
  context: OBJECT_OR_FALSE,
  toolSearch: OBJECT_OR_FALSE,
  approve: [isFunction, 'a function that decides; or leave it out'],
  onInternal: [isFunction, 'a function'],
  modelSettings: OBJECT,
  now: [isFunction, 'a function'],
};

/** Runs conversations between a model and the tools of a registry, one turn after the other. */
export class AgentLoop {
  readonly #runner: TurnRunner;

  static {
    openKeyOf = async (loop, sessionId) => {
      const { turn } = (await loop.#runner.journal(sessionId)).log;
      return turn?.end === undefined ? turn?.key : undefined;
    };
  }

  /**
   * Most hosts call `createAgent` of `@ethosagent/wiring` instead. This constructor is for hosts
   * that build the parts themselves.
   *
   * @param options the model, the tools, the sessions, limits and prices
   * @throws `CONFIG_INVALID` for an unknown or invalid option, such as a limit that is not above
   * zero or a negative price
   */
  constructor(options: AgentLoopOptions) {
    assertOptions('AgentLoop', options, OPTIONS);
    assertParts(options);
    this.#runner = new TurnRunner(options);
  }

  /**
   * Begins a turn. An error before the event `start` is thrown at the first read of the events;
   * later errors are events. A reader that stops early leaves the turn unfinished, and `resume` can
   * continue it.
   *
   * @param input the session, the prompt and its attachments
   * @returns the events, in order, to be read once; the last one is `done`
   * @throws `TURN_INVALID` for a blank prompt without attachments, if the last turn of the session
   * runs or is not finished, if its stored records can't be read, if the loop was closed, or if the
   * events are read again
   * @throws `SESSION_CHANGED` if another process writes to the session
   * @throws `SESSION_TAKEN` if somebody else holds the session
   * @throws `SESSION_OWNER_MISMATCH` if the session belongs to another owner
   * @throws `CONFIG_INVALID` if the personality is unknown or invalid
   * @throws `STORE_UNAVAILABLE` if the store does not answer
   */
  run(input: TurnInput): AsyncIterable<AgentEvent> {
    return this.#runner.run(input);
  }

  /**
   * Continues the last turn. Asks the model again if its answer broke off, runs the calls that had
   * not begun and those that were approved, and tells the model which calls may have run.
   *
   * @param input the session, and a signal
   * @returns the events, in order, to be read once; the last one is `done`
   * @throws as `run`; `TURN_INVALID` if no turn is unfinished, or if the turn began under another
   * personality
   */
  resume(input: ResumeInput): AsyncIterable<AgentEvent> {
    return this.#runner.resume(input);
  }

  /**
   * Runs a turn and waits for its end.
   *
   * @param input the session, the prompt and its attachments
   * @returns the last event; it has the `error` of a turn that failed
   * @throws as `run`
   * @throws `TURN_INVALID` if the turn ended without its last event, e.g. because the loop was
   * closed
   */
  async ask(input: TurnInput): Promise<TurnDone> {
    for await (const event of this.run(input)) if (event.type === 'done') return event;
    throw new EthosError('TURN_INVALID', 'the turn stopped before its last event; resume it');
  }

  /**
   * Reads the state of a session from the store.
   *
   * @param sessionId the id of the session
   * @returns `paused` if all open calls wait for a decision; `unfinished` for another open turn,
   * including one that this loop runs; `idle` otherwise
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
   * Lists the calls that the last turn waits for, decided or not. A `ToolSession` of the same
   * session also lists them with `pending`, and decides on them with `decide`.
   *
   * @param sessionId the id of the session
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
   * Decides on a waiting call, from any process. After that, `resume` runs or refuses the call.
   *
   * @param sessionId the id of the session
   * @param approval as the event, `pending` or `done` showed it
   * @param decision yes or no; if it has arguments, the call runs with these
   * @throws `APPROVAL_INVALID` if no such call waits, or it asks for something else now
   * @throws `ALREADY_DECIDED` for another decision than the one that was made
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
   * Removes a waiting call, decided or not. The call does not run, and after `resume` the model
   * reads that.
   *
   * @param sessionId the id of the session
   * @param approval as the event, `pending` or `done` showed it
   * @returns whether the call waited
   */
  withdraw(
    sessionId: string,
    approval: Pick<PendingApproval, 'toolCallId' | 'question'>,
  ): Promise<boolean> {
    return this.#runner.withdraw(sessionId, approval);
  }

  /**
   * Lists the grants that apply in a session under the personality of the loop.
   *
   * @param sessionId the id of the session
   * @returns the grants
   */
  async grants(sessionId: string): Promise<SessionGrant[]> {
    return this.#runner.grants(sessionId);
  }

  /**
   * Ends a grant.
   *
   * @param sessionId the id of the session
   * @param grantId the id that `grants` shows
   * @returns whether the grant existed
   */
  revoke(sessionId: string, grantId: string): Promise<boolean> {
    return this.#runner.revoke(sessionId, grantId);
  }

  /**
   * Ends an unfinished turn without continuing it, so that a new turn can begin.
   *
   * @param sessionId the id of the session
   * @param opts `claim`: the caller's claim on the session
   * @throws `CONFIG_INVALID` for an invalid option
   * @throws `TURN_INVALID` if no turn is unfinished, or the turn runs in this process
   * @throws `SESSION_CHANGED` if another process writes to the session
   * @throws `SESSION_TAKEN` if somebody else holds it
   */
  async abandon(sessionId: string, opts: { claim?: TurnClaim } = {}): Promise<void> {
    assertOptions('abandon', opts, ABANDON);
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
        : notRun(
            'the program ended the turn; call it again only if it is still wanted',
            'CALL_ABORTED',
          ),
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
   * Claims a session for turns in this process, so that no other process runs it. Call `extend`
   * before `leaseMs` are over, and `release` at the end.
   *
   * @param sessionId the id of the session
   * @param leaseMs milliseconds, up to a day
   * @returns the held session; `undefined` while somebody else holds it
   * @throws `CONFIG_INVALID` if the store can't hold sessions
   * @throws as `SessionStore.claim`
   */
  async hold(sessionId: string, leaseMs: number): Promise<HeldSession | undefined> {
    const store = claimingStore(this.#runner.options.sessions);
    return holdSession(store, await this.#runner.ref(sessionId), leaseMs);
  }

  /**
   * Extends the leases of held sessions. A session that is no longer held is marked as lost.
   *
   * @param held sessions that `hold` returned
   * @param leaseMs milliseconds from now, up to a day
   * @throws `CONFIG_INVALID` if the store can't hold sessions
   * @throws as `SessionStore.renew`
   */
  async extend(held: readonly HeldSession[], leaseMs: number): Promise<void> {
    assertHeldSessions('extend', held);
    return renewHeld(claimingStore(this.#runner.options.sessions), held, leaseMs);
  }

  /**
   * Releases a held session.
   *
   * @param held the session that `hold` returned
   * @throws `CONFIG_INVALID` if the store can't hold sessions
   * @throws as `SessionStore.release`
   */
  async release(held: HeldSession): Promise<void> {
    assertHeldSessions('release', [held]);
    const { sessionId, epoch } = held;
    held.lose();
    await claimingStore(this.#runner.options.sessions).release({ sessionId, epoch });
  }

  /**
   * Ends everything that runs in a session, and waits for its end: the turn, its sub-agents, and
   * what its tools left running. The turn stays unfinished.
   *
   * @param sessionId the id of the session
   */
  endSession(sessionId: string): Promise<void> {
    return this.#runner.endSession(sessionId);
  }

  /**
   * Ends all turns and sub-agents that run, and waits for their end. The turns stay unfinished and
   * send no more events.
   */
  close(): Promise<void> {
    return this.#runner.close();
  }
}

/** A misspelt claim would not be looked at. */
const ABANDON: OptionNames<{ claim?: TurnClaim }> = { claim: CLAIM };

/** @throws `CONFIG_INVALID` */
function assertHeldSessions(of: string, held: unknown): void {
  if (Array.isArray(held) && held.every((one) => isFunction(Object(one).lose))) return;
  const what = of === 'extend' ? 'a list of what `hold` returned' : 'what `hold` returned';
  throw new EthosError('CONFIG_INVALID', `${of}: give ${what}, after await`);
}

/** Plain JavaScript may leave them out. @throws `CONFIG_INVALID` */
function assertParts(options: AgentLoopOptions): void {
  const { model, tools, sessions, identity = {} } = options;
  const isModel = typeof model === 'string' ? model !== '' : isObject(model);
  if (!isModel || model instanceof Promise) {
    throw invalid('model is none; give a model of a provider of the AI SDK, or the name of one');
  }
  if (typeof Object(tools).definitions !== 'function') {
    throw invalid('tools are none; give a runtime of createToolRuntime, or registryTools()');
  }
  if (typeof Object(sessions).append !== 'function') {
    throw invalid('sessions are none; give a store, such as createInMemorySessionStore()');
  }
  assertOptionValues('AgentLoop', options, VALUES);
  assertIdentity(identity);
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', `AgentLoop: ${problem}`);
}
