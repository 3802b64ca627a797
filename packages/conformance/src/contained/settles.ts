/** Milliseconds within which everything that a call began must have ended. */
const SETTLE_MS = 1_000;
const STEP_MS = 10;

/**
 * Whether a condition becomes true within a second. A busy machine may be late for the whole
 * second, so the number of looks is the same as on an idle one.
 */
export async function settles(holds: () => boolean): Promise<boolean> {
  const until = performance.now() + SETTLE_MS;
  for (let looks = 0; performance.now() < until || looks < SETTLE_MS / STEP_MS / 2; looks += 1) {
    if (holds()) return true;
    await pause(STEP_MS);
  }
  return holds();
}

/**
 * Measures whether something happens within some milliseconds, a second when absent, without the time
 * that other processes took.
 */
export class Stopwatch {
  readonly #limitMs: number;
  readonly #begun = performance.now();
  readonly #cpu = process.cpuUsage();
  #ticks = 0;
  readonly #timer = setInterval(() => {
    this.#ticks += 1;
  }, STEP_MS).unref();

  constructor(limitMs = SETTLE_MS) {
    this.#limitMs = limitMs;
  }

  /** Stops, and returns whether it was too late. */
  isLate(): boolean {
    clearInterval(this.#timer);
    const { user, system } = process.cpuUsage(this.#cpu);
    const ownMs = Math.max(this.#ticks * STEP_MS, (user + system) / 1_000);
    return performance.now() - this.#begun > this.#limitMs && ownMs > this.#limitMs / 2;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
