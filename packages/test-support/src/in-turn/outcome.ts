/** How a program ended. */
export interface Outcome {
  exitCode: number;
  stdout: string;
  /** Everything that it wrote, for the one who has to find out what went wrong. */
  log: string;
}
