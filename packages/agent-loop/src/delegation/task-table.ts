import { MAX_TIMER_MS } from '@ethosagent/policy';
import {
  CapabilityError,
  type DelegationInfo,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import type { Task } from './task.js';
import { TaskJournal } from './task-journal.js';

/** The tasks of this process, and the earlier tasks of its sessions. */
export class TaskTable {
  readonly #sessions: SessionStore;
  /** Running tasks, and ended ones whose end could not be recorded. */
  readonly #tasks = new Map<string, Task>();

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
  }

  add(task: Task): void {
    this.#tasks.set(task.id, task);
  }

  /** Removes a task that never began. */
  drop(task: Task): void {
    this.#tasks.delete(task.id);
    task.settle();
  }

  runningOf(sessionId: string): number {
    return this.#of(sessionId).filter((task) => task.info().state === 'running').length;
  }

  /** Records that a task has begun, so that a crash does not lose it. */
  async begin(task: Task): Promise<void> {
    const journal = this.#journalOf(task.parent);
    await (task.isBackground ? journal.started(task.info()) : journal.ran(task.id));
  }

  /** Records the end of a task. Never rejects: if it can't be recorded, the task is kept here. */
  async end(task: Task): Promise<void> {
    try {
      if (task.isBackground) await this.#journalOf(task.parent).ended(task.info());
      this.#tasks.delete(task.id);
    } catch {
      // This process still knows the outcome. Another process finds the task interrupted.
    }
    task.settle();
  }

  async list(parent: SessionRef): Promise<DelegationInfo[]> {
    const stored = await this.#journalOf(parent).list();
    const known = new Map(stored.map((info) => [info.id, info]));
    // A task that is not recorded belongs to a deleted session of the same id.
    for (const task of this.#of(parent.id)) {
      if (known.has(task.id)) known.set(task.id, task.info());
    }
    return [...known.values()];
  }

  /** @throws `DELEGATION_NOT_FOUND` */
  async get(
    parent: SessionRef,
    id: string,
    { waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal } = {},
  ): Promise<DelegationInfo> {
    const task = this.#find(parent, id);
    if (task !== undefined) {
      await settled(task, waitMs, signal);
      return task.info();
    }
    const stored = (await this.#journalOf(parent).list()).find((info) => info.id === id);
    if (stored !== undefined) return stored;
    throw new CapabilityError(
      'DELEGATION_NOT_FOUND',
      `this session has started no task ${JSON.stringify(String(id).slice(0, 100))}; give the id of one that it started`,
      'not a task of the session',
    );
  }

  /** @throws `DELEGATION_NOT_FOUND` */
  async cancel(parent: SessionRef, id: string): Promise<DelegationInfo> {
    const task = this.#find(parent, id);
    if (task === undefined) return this.get(parent, id);
    task.cancel('it was cancelled');
    await task.ended;
    return task.info();
  }

  cancelWhere(picks: (task: Task) => boolean, why: string): Task[] {
    const picked = [...this.#tasks.values()].filter(picks);
    for (const task of picked) task.cancel(why);
    return picked;
  }

  /** Ends the tasks that `picks` chooses, waits for their end, and removes them. */
  async endWhere(picks: (task: Task) => boolean, why: string): Promise<void> {
    const picked = this.cancelWhere(picks, why);
    await Promise.all(picked.map(({ ended }) => ended));
    for (const { id } of picked) this.#tasks.delete(id);
  }

  #of(sessionId: string): Task[] {
    return [...this.#tasks.values()].filter(({ parent }) => parent.id === sessionId);
  }

  /** A task of another session is not found. */
  #find(parent: SessionRef, id: string): Task | undefined {
    const task = this.#tasks.get(id);
    return task?.isBackground && task.parent.id === parent.id ? task : undefined;
  }

  #journalOf(parent: SessionRef): TaskJournal {
    return new TaskJournal(this.#sessions, parent);
  }
}

/** Waits for the end of a task, at most for `waitMs` and until the signal fires. */
async function settled(task: Task, waitMs: number, signal?: AbortSignal): Promise<void> {
  if (!(waitMs > 0) || signal?.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const enough = new Promise<void>((resolve) => {
    stop = resolve;
    timer = setTimeout(resolve, Math.min(waitMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([task.ended, enough]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
}
