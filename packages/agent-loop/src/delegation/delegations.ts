import { randomBytes } from 'node:crypto';
import {
  type DelegatingCall,
  type QuarantinePrompt,
  SessionLedgers,
  type ShowImagesOptions,
  type UntrustedFiles,
} from '@ethosagent/core';
import { assertNumbers, assertOptions } from '@ethosagent/policy';
import {
  CapabilityError,
  type DelegatedTask,
  type DelegationCaller,
  type DelegationInfo,
  type DelegationProvider,
  type QuarantinedRead,
  type QuarantinedValue,
  type SessionStore,
} from '@ethosagent/types';
import type { AgentLoopOptions, DelegationLimits } from '../api.js';
import type { DelegatingTurn, RunChild } from './child-turn.js';
import { grantTask, type TaskGrant } from './grant-task.js';
import { readQuarantined } from './read-quarantined.js';
import { type GrantedTask, isUsedUp, runTask } from './run-task.js';
import { Task } from './task.js';
import { TaskTable } from './task-table.js';

/** The parts of a loop that its sub-agents use. */
export interface DelegationsOptions {
  sessions: SessionStore;
  runChild: RunChild;
  /** The files that were changed by agents that could use untrusted content. */
  files: UntrustedFiles;
  /** Asks the agents' model about content in quarantine. The turn pays for it. */
  askReader: (prompt: QuarantinePrompt, turn: DelegatingTurn) => Promise<string>;
  /** How that model sees images of results. */
  images: ShowImagesOptions;
  /** Ends what the tools of a session left running. */
  endToolsOf?: (sessionId: string) => Promise<void>;
  approve?: AgentLoopOptions['approve'];
  limits?: DelegationLimits;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const DEFAULTS = {
  maxDepth: 2,
  maxRunning: 4,
  maxTotal: 16,
  maxResultChars: 20_000,
} as const satisfies Required<DelegationLimits>;

type Progress = (message: string) => void;

/** The sub-agents of a loop, of all its sessions and on all levels. */
export class Delegations {
  readonly #options: DelegationsOptions;
  readonly #limits: Required<DelegationLimits>;
  readonly #now: () => number;
  readonly #table: TaskTable;
  #isClosed = false;

  /** @throws `CONFIG_INVALID` for a limit that is not a whole number */
  constructor(options: DelegationsOptions) {
    const { sessions, limits = {}, now = Date.now } = options;
    this.#options = options;
    this.#limits = limitsOf(limits);
    this.#now = now;
    this.#table = new TaskTable(sessions);
  }

  forTurn(turn: DelegatingTurn): DelegationProvider {
    return {
      run: (caller, task, onProgress) => this.#run(turn, task, { caller, onProgress }),
      start: (_caller, task) => this.#start(turn, task),
      list: () => this.#table.list(turn.ref),
      get: ({ signal }, id, opts) => this.#table.get(turn.ref, id, { ...opts, signal }),
      cancel: (_caller, id) => this.#table.cancel(turn.ref, id),
      read: (caller, asked) => this.#read(turn, asked, caller),
    };
  }

  /** Ends what a session has running, and waits for its end. */
  endSession(sessionId: string): Promise<void> {
    return this.#table.endWhere(
      ({ parent }) => parent.id === sessionId,
      'the session of the agent that gave the task has ended',
    );
  }

  /** Ends everything that runs, and waits for its end. Nothing new begins. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#table.endWhere(() => true, 'the agent was closed');
  }

  /** The turn pays for the reading, as it does for a sub-agent. */
  async #read(
    turn: DelegatingTurn,
    asked: QuarantinedRead,
    caller: DelegatingCall,
  ): Promise<QuarantinedValue> {
    if (this.#isClosed) throw tooLate();
    if (isUsedUp(turn)) throw limit('the budget of the turn is used up', 'budget');
    const { approve, files, images, askReader } = this.#options;
    return readQuarantined(asked, {
      turn,
      approve,
      files,
      images,
      caller,
      now: this.#now,
      read: (prompt) => {
        if (isUsedUp(turn)) throw limit('the budget of the turn is used up', 'budget');
        return askReader(prompt, turn);
      },
    });
  }

  async #run(
    turn: DelegatingTurn,
    asked: DelegatedTask,
    { caller, onProgress }: { caller: DelegationCaller; onProgress: Progress | undefined },
  ): Promise<DelegationInfo> {
    const task = this.#reserve(turn, asked, false);
    const abort = () => task.cancel('the call that gave the task has ended');
    caller.signal.addEventListener('abort', abort, { once: true });
    if (caller.signal.aborted) abort();
    try {
      await this.#drive(
        task,
        { asked, turn, grant: await this.#admit(turn, asked, task) },
        onProgress,
      );
    } finally {
      caller.signal.removeEventListener('abort', abort);
    }
    return task.info();
  }

  async #start(turn: DelegatingTurn, asked: DelegatedTask): Promise<DelegationInfo> {
    const task = this.#reserve(turn, asked, true);
    const grant = await this.#admit(turn, asked, task);
    const info = task.info();
    void this.#drive(task, { asked, turn, grant });
    return info;
  }

  /**
   * Counts a task before anything is awaited, so that calls at the same time can't exceed a limit.
   */
  #reserve(turn: DelegatingTurn, { prompt }: DelegatedTask, isBackground: boolean): Task {
    this.#assertRoom(turn);
    const id = `task-${randomBytes(8).toString('hex')}`;
    const task = new Task(
      { id, prompt, startedAt: this.#now() },
      { turn, parent: turn.ref, isBackground },
    );
    this.#table.add(task);
    turn.begun.count += 1;
    return task;
  }

  #assertRoom(turn: DelegatingTurn): void {
    const { maxDepth, maxRunning, maxTotal } = this.#limits;
    if (this.#isClosed) throw tooLate();
    if (turn.depth >= maxDepth) {
      throw limit(
        `there are at most ${maxDepth} levels of sub-agents, and this one is on the last; do it yourself`,
        'maxDepth',
      );
    }
    if (this.#table.runningOf(turn.ref.id) >= maxRunning) {
      throw limit(
        `${maxRunning} sub-agents run, and no more may at once; wait for one, or cancel it`,
        'maxRunning',
      );
    }
    if (turn.begun.count >= maxTotal) {
      throw limit(
        `${maxTotal} sub-agents were begun in this turn, on all levels together, and no more may be; do the rest yourself`,
        'maxTotal',
      );
    }
    if (isUsedUp(turn)) throw limit('the budget of the turn is used up', 'budget');
  }

  async #admit(turn: DelegatingTurn, asked: DelegatedTask, task: Task): Promise<TaskGrant> {
    try {
      const grant = await grantTask(turn, asked);
      task.runsUnder(grant.personalityId);
      await turn.begun.note();
      await this.#table.begin(task);
      return grant;
    } catch (error) {
      turn.begun.count -= 1;
      this.#table.drop(task);
      throw error;
    }
  }

  async #drive(task: Task, granted: GrantedTask, onProgress?: Progress): Promise<void> {
    const { runChild, approve, endToolsOf } = this.#options;
    await runTask(task, granted, {
      runChild,
      approve,
      maxResultChars: this.#limits.maxResultChars,
      now: this.#now,
      onProgress,
      onUsedUp: () =>
        this.#table.cancelWhere(
          (each) => each.turn === granted.turn,
          'the budget of the turn is used up',
        ),
    });
    if (await this.#isClean(task, granted.turn)) task.clear();
    // What the sub-agent's tools left running also ends.
    await this.endSession(task.id);
    await endToolsOf?.(task.id).catch(() => {});
    await this.#table.end(task);
  }

  /**
   * Whether the sub-agent's own session has read nothing untrusted. If that is not known, the
   * answer is no.
   */
  async #isClean({ id }: Task, { identity }: DelegatingTurn): Promise<boolean> {
    const { sessions } = this.#options;
    try {
      const ledger = SessionLedgers.of(sessions).ofSession(id, identity);
      await ledger.refresh();
      return !ledger.isTainted && (await sessions.get(id)) !== null;
    } catch {
      return false;
    }
  }
}

function limitsOf(limits: DelegationLimits): Required<DelegationLimits> {
  assertOptions('delegation', limits, DEFAULTS);
  const given = Object.fromEntries(
    Object.entries(limits).filter(([, limit]) => limit !== undefined),
  );
  assertNumbers('delegation.', given, {
    wanted: 'a whole number from zero',
    fits: (value) => Number.isSafeInteger(value) && value >= 0,
  });
  return { ...DEFAULTS, ...given };
}

function limit(detail: string, rule: string): CapabilityError {
  return new CapabilityError('DELEGATION_LIMIT', detail, rule);
}

function tooLate(): CapabilityError {
  return new CapabilityError('DELEGATION_REFUSED', 'the agent was closed', 'closed');
}
