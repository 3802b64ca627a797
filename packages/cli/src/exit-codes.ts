/** The exit codes of the command. */
export const EXIT = {
  /** Done; nothing was found. */
  ok: 0,
  /** Done; something was found: a problem, a refused call, a forged log. */
  found: 1,
  /** Not done: wrong usage, an invalid configuration, a file that can't be read. */
  failed: 2,
} as const;
