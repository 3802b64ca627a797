import { isSameOwner } from '@ethosagent/policy';
import { EthosError, type SessionRef } from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, ResumeInput, TurnInput } from './api.js';
import { EventQueue } from './event-queue.js';
import { Journal, readLog } from './journal/journal.js';
import type { AgentRecord } from './journal/records.js';
import type { LoggedTurn, SessionLog } from './journal/session-log.js';
import { type RetryPlan, retryPlan, type TurnLimits, turnLimits } from './options.js';
import { sessionRef } from './session-ref.js';
import { type AgentPlace, SubAgents } from './sub-agents.js';
import { Turn } from './turn.js';

interface Running {
  journal?: Journal;
  turn?: Turn;
  events?: EventQueue;
  /** It is to end, even if it has not begun yet. */
  isLeft: boolean;
  ended: Promise<void>;
}

/** Runs the turns of one agent: the one at the top, or a sub-agent. */
export class TurnRunner {
  readonly options: AgentLoopOptions;
  readonly #limits: TurnLimits;
  readonly #retries: RetryPlan;
  readonly #now: () => number;
  readonly #subAgents: SubAgents;
  readonly #running = new Map<string, Running>();

  /** @throws `CONFIG_INVALID` for a limit that limits nothing */
  constructor(options: AgentLoopOptions, place?: AgentPlace) {
    this.options = options;
    this.#limits = turnLimits(options.limits, options.prices);
    this.#retries = retryPlan(options.retries);
    this.#now = options.now ?? Date.now;
    this.#subAgents = new SubAgents(
      options,
      this.#limits,
      (child, below, input) => new TurnRunner(child, below).run(input),
      place,
    );
  }

  run(input: TurnInput): AsyncIterable<AgentEvent> {
    return this.#events(input, (log) => userRecord(input, log));
  }

  resume(input: ResumeInput): AsyncIterable<AgentEvent> {
    return this.#events(input, (log) => ({ kind: 'resumed', turn: unfinished(log).turn }));
  }

  /** The journal of the turn that runs, or one that was read for this. */
  async journal(sessionId: string): Promise<Journal> {
    return this.#running.get(sessionId)?.journal ?? (await this.#open(sessionId));
  }

  async read(sessionId: string): Promise<SessionLog> {
    return this.#read(await this.ref(sessionId));
  }

  /** The session, owned as the calls of its turns see it. */
  async ref(sessionId: string): Promise<SessionRef> {
    const { tools, personality, identity } = this.options;
    return sessionRef(sessionId, (await tools.personality(personality)).id, identity);
  }

  /** @throws `TURN_INVALID` */
  assertNotRunning(sessionId: string): void {
    if (!this.#running.has(sessionId)) return;
    throw new EthosError('TURN_INVALID', 'a turn of the session runs; wait for its end');
  }

  /** Ends what runs in a session, and waits for it. Its turn stays unfinished. */
  async endSession(sessionId: string): Promise<void> {
    await this.#leave([sessionId]);
    await this.#subAgents.endSession(sessionId);
    await this.options.tools.endSession?.(sessionId);
  }

  /** Ends all that runs, and waits for it. */
  async close(): Promise<void> {
    await this.#leave([...this.#running.keys()]);
    await this.#subAgents.close();
  }

  async #leave(sessionIds: readonly string[]): Promise<void> {
    const running = sessionIds.flatMap((id) => this.#running.get(id) ?? []);
    for (const each of running) {
      each.isLeft = true;
      each.turn?.leave();
      // Its reader may be the one who waits for this.
      each.events?.end();
    }
    await Promise.all(running.map(({ ended }) => ended));
  }

  async *#events(
    { sessionId, abortSignal, ...input }: TurnInput | ResumeInput,
    begin: (log: SessionLog) => AgentRecord,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    this.assertNotRunning(sessionId);
    let release = () => {};
    const running: Running = {
      isLeft: false,
      ended: new Promise((resolve) => {
        release = resolve;
      }),
    };
    this.#running.set(sessionId, running);
    const end = () => {
      if (this.#running.get(sessionId) === running) this.#running.delete(sessionId);
      release();
    };
    try {
      const journal = await this.#open(sessionId);
      await journal.append(begin(journal.log));
      const logged = unfinished(journal.log);
      const events = new EventQueue();
      const turn = new Turn(
        {
          options: this.options,
          limits: this.#limits,
          retries: this.#retries,
          sessionId,
          attachments: ('attachments' in input && input.attachments) || logged.attachments,
          journal,
          events,
          isResumed: !('prompt' in input),
          abortSignal,
          now: this.#now,
        },
        logged,
      );
      turn.delegation = this.#subAgents.forTurn(turn, journal.ref);
      running.journal = journal;
      running.turn = turn;
      running.events = events;
      if (running.isLeft) {
        turn.leave();
        events.end();
      }
      const over = turn.run().finally(end);
      try {
        for (;;) {
          const event = await events.next();
          if (event === undefined) return;
          // Before the reader knows: it may begin the next turn at once.
          if (event.type === 'done') await over;
          yield event;
          if (event.type === 'done') return;
        }
      } finally {
        turn.leave();
        events.end();
        await over;
      }
    } finally {
      end();
    }
  }

  async #open(sessionId: string): Promise<Journal> {
    const ref = await this.ref(sessionId);
    return new Journal(this.options.sessions, ref, await this.#read(ref));
  }

  async #read(ref: SessionRef): Promise<SessionLog> {
    const { sessions } = this.options;
    const info = await sessions.get(ref.id);
    if (info !== null && !isSameOwner(info, ref)) {
      throw new EthosError('SESSION_OWNER_MISMATCH', 'the session belongs to another owner');
    }
    return readLog(sessions, ref.id);
  }
}

function userRecord(
  { prompt, attachments, untrusted }: TurnInput,
  { turn }: SessionLog,
): AgentRecord {
  if (turn !== undefined && turn.end === undefined) {
    throw new EthosError(
      'TURN_INVALID',
      'the last turn of the session is not finished: `resume` goes on with it, `abandon` ends it',
    );
  }
  const files = attachments?.map(({ id, name, mediaType, sizeBytes }) => ({
    id,
    name,
    mediaType,
    sizeBytes,
  }));
  return {
    kind: 'user',
    turn: (turn?.turn ?? 0) + 1,
    prompt: prompt.toWellFormed(),
    ...(files !== undefined && files.length > 0 && { attachments: files }),
    ...(untrusted === true && { untrusted: true }),
  };
}

/** The turn that can be gone on with. @throws `TURN_INVALID` when there is none */
export function unfinished({ turn }: SessionLog): LoggedTurn {
  if (turn !== undefined && turn.end === undefined) return turn;
  throw new EthosError('TURN_INVALID', 'the session has no turn to go on with');
}
