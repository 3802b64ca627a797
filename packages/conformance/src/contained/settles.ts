/** Milliseconds in which what a call began must be over. */
const SETTLE_MS = 1_000;
const STEP_MS = 10;

/**
 * Whether something comes to hold within a second. A busy machine may be late for all of the
 * second, so there are no fewer looks than an idle one would have.
 */
export async function settles(holds: () => boolean): Promise<boolean> {
  const until = performance.now() + SETTLE_MS;
  for (let looks = 0; performance.now() < until || looks < SETTLE_MS / STEP_MS / 2; looks += 1) {
    if (holds()) return true;
    await pause(STEP_MS);
  }
  return holds();
}

/** Measures whether something comes within a second of which other processes may take a part. */
export class Stopwatch {
  readonly #begun = performance.now();
  readonly #cpu = process.cpuUsage();
  #ticks = 0;
  readonly #timer = setInterval(() => {
    this.#ticks += 1;
  }, STEP_MS).unref();

  /** Stops, and says whether it was late. */
  isLate(): boolean {
    clearInterval(this.#timer);
    const { user, system } = process.cpuUsage(this.#cpu);
    const ownMs = Math.max(this.#ticks * STEP_MS, (user + system) / 1_000);
    return performance.now() - this.#begun > SETTLE_MS && ownMs > SETTLE_MS / 2;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
