/** A clock that stands still until it is told to move. */
export interface FakeClock {
  /** Milliseconds since the epoch. A plain function: pass it wherever a `now` is taken. */
  now: () => number;
  /** Moves the clock; backwards for a negative number of milliseconds. */
  advance(ms: number): void;
}

/**
 * A clock that moves only when a test moves it.
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
