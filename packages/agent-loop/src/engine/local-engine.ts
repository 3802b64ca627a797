import { MAX_TIMER_MS } from '@ethosagent/policy';
import type { Engine, EngineTurn, EngineWork } from './engine.js';

/**
 * Creates an engine that wakes the workers of this process. It forgets everything when the process
 * ends; the turn store keeps the turns.
 *
 * @returns the engine
 */
export function createLocalEngine(): Engine {
  const workers = new Set<LocalWorker>();
  const timers = new Map<string, NodeJS.Timeout>();
  const knock = () => {
    const idle = [...workers].sort((a, b) => a.running - b.running)[0];
    idle?.knock();
  };
  return {
    async enqueue({ id, delayMs }: EngineTurn) {
      clearTimeout(timers.get(id));
      const timer = setTimeout(
        () => {
          timers.delete(id);
          knock();
        },
        Math.min(delayMs, MAX_TIMER_MS),
      );
      timers.set(id, timer);
    },
    async wake() {
      knock();
    },
    async cancel({ id }) {
      clearTimeout(timers.get(id));
      timers.delete(id);
    },
    async work(work) {
      const worker = new LocalWorker(work);
      workers.add(worker);
      return {
        async close() {
          workers.delete(worker);
          await worker.close();
        },
      };
    },
    async problem() {
      return undefined;
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.all([...workers].map((worker) => worker.close()));
      workers.clear();
    },
  };
}

class LocalWorker {
  readonly #work: EngineWork;
  readonly #running = new Set<Promise<void>>();
  #knocks = 0;
  #isClosed = false;

  constructor(work: EngineWork) {
    this.#work = work;
  }

  get running(): number {
    return this.#running.size + this.#knocks;
  }

  knock(): void {
    this.#knocks += 1;
    this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running);
  }

  #start(): void {
    while (!this.#isClosed && this.#knocks > 0 && this.#running.size < this.#work.concurrency) {
      this.#knocks -= 1;
      const run = this.#work
        .runNext()
        .catch(() => {})
        .then(() => {
          this.#running.delete(run);
          this.#start();
        });
      this.#running.add(run);
    }
  }
}
