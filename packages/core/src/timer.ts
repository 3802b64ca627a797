/** The longest delay of a timer, in milliseconds. With a longer one, it fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
