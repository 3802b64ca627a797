/** The exit codes of the command. */
export const EXIT = {
  /** Done, and nothing to report. */
  ok: 0,
  /** Done, and it found something: a problem, a refused call, a forged log. */
  found: 1,
  /** Not done: wrong usage, a wrong configuration, a file that can't be read. */
  failed: 2,
} as const;
