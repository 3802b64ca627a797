/**
 * The longest delay of a timer of Node, in milliseconds: nearly 25 days. With a longer one, the timer
 * fires at once.
 */
export const MAX_TIMER_MS = 2_147_483_647;
