/** The longest delay that a timer takes, in milliseconds; it fires at once on a longer one. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
