import { MAX_TIMER_MS } from '@ethosagent/policy';

interface Run {
  readonly capMs: number;
  readonly onOver: () => void;
  isOver: boolean;
}

/**
 * Sums up the time of what runs: n processes at once use n seconds per second. One timer serves all
 * of them.
 */
export class TimeMeter {
  readonly #runs = new Set<Run>();
  #usedMs = 0;
  /** The time in `performance.now()` up to which `#usedMs` counts. */
  #countedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Used until now. */
  get seconds(): number {
    return this.#count() / 1000;
  }

  /**
   * Counts the time until the returned function is called.
   *
   * @param capSeconds of this meter, `Infinity` for no cap
   * @param onOver called once, if the meter reaches the cap before that
   */
  start(capSeconds: number, onOver: () => void): () => void {
    this.#count();
    const run: Run = { capMs: capSeconds * 1000, onOver, isOver: false };
    this.#runs.add(run);
    this.#arm();
    return () => {
      this.#count();
      if (this.#runs.delete(run)) this.#arm();
    };
  }

  #count(): number {
    const now = performance.now();
    this.#usedMs += this.#runs.size * (now - this.#countedAt);
    this.#countedAt = now;
    return this.#usedMs;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    let nextCapMs = Number.POSITIVE_INFINITY;
    for (const { isOver, capMs } of this.#runs) {
      if (!isOver) nextCapMs = Math.min(nextCapMs, capMs);
    }
    if (nextCapMs === Number.POSITIVE_INFINITY) return;
    const delay = Math.ceil((nextCapMs - this.#usedMs) / this.#runs.size);
    this.#timer = setTimeout(() => this.#expire(), Math.min(delay, MAX_TIMER_MS));
    // The running processes keep the host alive, not this timer.
    this.#timer.unref();
  }

  #expire(): void {
    const usedMs = this.#count();
    for (const run of this.#runs) {
      if (run.isOver || usedMs < run.capMs) continue;
      run.isOver = true;
      run.onOver();
    }
    this.#arm();
  }
}
