/** A program of the operator that a command runs. */
export interface ProgramToRun {
  /** The program and its arguments. No shell parses them. */
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Whether the program's output goes to standard error, because standard output is only for the
   * answer of the command.
   */
  outputToError: boolean;
}

/**
 * The input and output of the command line. Everything that it reads and writes goes through this
 * object.
 */
export interface CliIo {
  /** The absolute path of the folder in which the command was started. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The name of the user, who is recorded with each decision. */
  user?: string;
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Reads standard input to its end. Returns an empty text for an empty input. */
  readInput(): Promise<string>;
  /**
   * Asks a question at the terminal. Returns the line that the user typed, or `undefined` without a
   * terminal or at the end of the input.
   */
  ask?(question: string): Promise<string | undefined>;
  /** The same, but the terminal does not show what the user types. */
  askSecret?(question: string): Promise<string | undefined>;
  /** Whether a person reads the output at a terminal with colours. */
  colors: boolean;
  /** Whether standard output is a terminal. */
  isTerminal?: boolean;
  /** The width of the terminal in columns. No limit when absent. */
  columns?: number;
  /** Fires when the user presses Ctrl-C. */
  signal?: AbortSignal;
  /**
   * Runs a program in the folder in which the command was started, with the input, output and
   * signals of this process. Returns its exit code, or 128 plus the number of the signal that ended
   * it.
   * @throws `CONFIG_INVALID` if it can't be started
   */
  runProgram?(program: ProgramToRun): Promise<number>;
}
