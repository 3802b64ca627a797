/** A program of the operator's own that a command runs. */
export interface ProgramToRun {
  /** The program and its arguments. No shell reads them. */
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Its output goes to standard error, where standard output is for an answer alone. */
  outputToError: boolean;
}

/** What the command line takes from its process: everything that it reads and writes comes in here. */
export interface CliIo {
  /** The absolute path of the folder that the command was started in. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The name of the user, for the record of what they decide. */
  user?: string;
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** All of standard input. Empty where there is none. */
  readInput(): Promise<string>;
  /**
   * Asks at the terminal, and gives the line that was typed; `undefined` without a terminal, or when
   * the input ended.
   */
  ask?(question: string): Promise<string | undefined>;
  /** The same for what must not be seen while it is typed. */
  askSecret?(question: string): Promise<string | undefined>;
  /** Whether output is read by a person at a terminal that shows colours. */
  colors: boolean;
  /** Columns of the terminal. No limit when absent. */
  columns?: number;
  /** Fires when the user presses Ctrl-C. */
  signal?: AbortSignal;
  /**
   * Runs a program in the folder that the command was started in, with the input, the output and
   * the signals of this process, and gives its exit code: 128 and the signal's number where a signal
   * ended it.
   * @throws `CONFIG_INVALID` where it can't be started
   */
  runProgram?(program: ProgramToRun): Promise<number>;
}
