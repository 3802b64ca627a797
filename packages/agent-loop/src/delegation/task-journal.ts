import { taskJournalId } from '@ethosagent/core';
import {
  type Check,
  isAmount,
  isAnything,
  isBoolean,
  isOneOf,
  isShape,
  isString,
  takeStart,
} from '@ethosagent/policy';
import type {
  DelegationInfo,
  DelegationState,
  NewSessionMessage,
  SessionRef,
  SessionStore,
} from '@ethosagent/types';

const VERSION = 1;
const MAX_PROMPT_CHARS = 4_000;

const ENDED = [
  'done',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly DelegationState[];

const isStarted = isShape(
  { kind: isOneOf(['task_started']), id: isString, prompt: isString, startedAt: isAmount },
  { personalityId: isString },
);
const isEnded = isShape(
  {
    kind: isOneOf(['task_ended']),
    id: isString,
    state: isOneOf(ENDED),
    endedAt: isAmount,
    steps: isAmount,
    calls: isAmount,
    costUsd: isAmount,
  },
  { result: isString, error: isString, untrusted: isBoolean },
);
const isEntry = isShape({ v: isAmount, task: isAnything });
type Checked<C> = C extends Check<infer T> ? T : never;
type Started = Checked<typeof isStarted>;
type Ended = Checked<typeof isEnded>;
/** Read when the session is deleted. */
interface Given {
  kind: 'task_given';
  id: string;
}

export const INTERRUPTED =
  'the process that ran it has ended, or another process still runs it; what it did until then is done';

/**
 * The background tasks of a session, stored in a session of their own. So a later process finds
 * tasks that another one began and did not end.
 */
export class TaskJournal {
  readonly #store: SessionStore;
  readonly #owner: SessionRef;

  /** @param parent the session whose tasks are stored, with its owner */
  constructor(store: SessionStore, parent: SessionRef) {
    const { id, key, ...owner } = parent;
    this.#store = store;
    this.#owner = { ...owner, id: taskJournalId(id), key: taskJournalId(key ?? id) };
  }

  started({ id, prompt, startedAt, personalityId }: DelegationInfo): Promise<void> {
    const begin = takeStart(prompt, MAX_PROMPT_CHARS);
    const record: Started = {
      kind: 'task_started',
      id,
      prompt: begin,
      startedAt,
      ...(personalityId !== undefined && { personalityId }),
    };
    return this.#append(`${id} was started`, record);
  }

  /** Notes a task that nobody looks up later, so that its session is deleted with this one. */
  ran(id: string): Promise<void> {
    return this.#append(`${id} was given`, { kind: 'task_given', id });
  }

  /** Does nothing for a task of a session that was deleted meanwhile. */
  async ended(info: DelegationInfo): Promise<void> {
    const { id, state, endedAt = info.startedAt, steps, calls, costUsd, result, error } = info;
    const { untrusted } = info;
    if (state === 'running' || !(await this.list()).some((begun) => begun.id === id)) return;
    const record: Ended = {
      kind: 'task_ended',
      id,
      state,
      endedAt,
      steps,
      calls,
      costUsd,
      untrusted,
      ...(result !== undefined && { result }),
      ...(error !== undefined && { error }),
    };
    await this.#append(`${id}: ${state}`, record);
  }

  /**
   * The oldest first. A task without an end is `interrupted` here. The process that runs it knows
   * its real state.
   */
  async list(): Promise<DelegationInfo[]> {
    const tasks = new Map<string, DelegationInfo>();
    for await (const task of this.#records()) {
      if (isStarted(task)) {
        const { kind: _, ...begun } = task;
        const none = { steps: 0, calls: 0, costUsd: 0, untrusted: true };
        tasks.set(task.id, { ...begun, state: 'interrupted', ...none, error: INTERRUPTED });
      } else if (isEnded(task)) {
        const begun = tasks.get(task.id);
        if (begun === undefined) continue;
        const { kind: _, ...end } = task;
        const { error: __, ...known } = begun;
        tasks.set(task.id, { ...known, ...end });
      }
    }
    return [...tasks.values()];
  }

  async *#records(): AsyncGenerator<unknown> {
    const { id } = this.#owner;
    for (let after = 0; ; ) {
      const page = await this.#store.messages(id, { afterSequence: after });
      for (const { data } of page) if (isEntry(data) && data.v === VERSION) yield data.task;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.sequence;
    }
  }

  async #append(text: string, task: Started | Ended | Given): Promise<void> {
    const message: NewSessionMessage = { role: 'system', text, data: { v: VERSION, task } };
    await this.#store.append(this.#owner, [message]);
  }
}
