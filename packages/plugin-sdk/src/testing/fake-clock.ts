/** A clock that stands still until a test moves it. */
export interface FakeClock {
  /** Returns milliseconds since the epoch. It is a plain function: pass it as an option `now`. */
  now: () => number;
  /** Moves the clock by milliseconds; a negative number moves it back. */
  advance(ms: number): void;
}

/**
 * Creates a clock that moves only when a test moves it.
 *
 * @param start milliseconds since the epoch; 2026-01-01T00:00:00Z when absent
 * @returns the clock
 */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  let current = start;
  return {
    now: () => current,
    advance(ms) {
      current += ms;
    },
  };
}
