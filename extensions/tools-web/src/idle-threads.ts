// biome-ignore lint/style/noRestrictedImports: it keeps the threads of `runThread`
import type { Worker } from 'node:worker_threads';

const IDLE_MS = 30_000;
// A library may keep some memory of each page, so a thread ends after so many jobs.
const MAX_JOBS = 200;
const MAX_IDLE = 2;

interface Idle {
  key: string;
  worker: Worker;
  jobs: number;
  timer: NodeJS.Timeout;
  /** Called when the thread ends by itself. */
  drop: () => void;
}

/** Keeps threads that have nothing to do for 30 seconds, for the next job of their kind. */
export class IdleThreads {
  readonly #idle: Idle[] = [];

  /**
   * Takes out a thread.
   *
   * @returns the thread, and how many jobs it has done; `undefined` when there is none
   */
  take(key: string): { worker: Worker; jobs: number } | undefined {
    const at = this.#idle.findIndex((one) => one.key === key);
    const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (found === undefined) return undefined;
    clearTimeout(found.timer);
    found.worker.off('exit', found.drop);
    found.worker.ref();
    return { worker: found.worker, jobs: found.jobs };
  }

  /**
   * Keeps a thread, if there is room.
   *
   * @returns whether it is kept; otherwise the caller has to end it
   */
  give(key: string, worker: Worker, jobs: number): boolean {
    if (jobs >= MAX_JOBS || this.#idle.length >= MAX_IDLE) return false;
    const drop = () => {
      const at = this.#idle.findIndex((one) => one.worker === worker);
      const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
      if (found === undefined) return;
      clearTimeout(found.timer);
      void worker.terminate();
    };
    const timer = setTimeout(drop, IDLE_MS);
    // An idle thread must not keep the process alive.
    timer.unref();
    worker.unref();
    worker.once('exit', drop);
    this.#idle.push({ key, worker, jobs, timer, drop });
    return true;
  }
}
