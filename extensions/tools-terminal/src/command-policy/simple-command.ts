/** The source of a command's standard input. */
export type CommandInput =
  | { from: 'nothing' | 'file' | 'fetch' }
  /**
   * `found` has paths that stand for the names that `find` writes; `said` has the text that `echo`
   * writes.
   */
  | { from: 'pipe'; found?: readonly string[]; said?: string }
  /** A here-document or here-string, with marks for the unknown parts. */
  | { from: 'text'; text: string };

/** An assignment before a command, or without one. */
export interface CommandAssignment {
  name: string;
  value: string;
  /** Whether the value is added to the old one. */
  appends?: boolean;
  /** Whether later programs get the variable in their environment. */
  isExported?: boolean;
  /** Whether it only exports the current value. */
  isKept?: boolean;
  isRemoved?: boolean;
  /** Whether the name becomes a reference to another variable. */
  isReference?: boolean;
}

/** A redirection to or from a file. */
export interface CommandRedirect {
  reads: boolean;
  writes: boolean;
  target: string;
}

/**
 * One command without any other command in it, in the form for rules. Its words are marked text.
 */
export interface SimpleCommand {
  /**
   * The name of the program without its folder; `undefined` when it is known only at run time, `''`
   * when there is none.
   */
  name: string | undefined;
  /** The name with its folder, if the command has one. */
  written: string;
  args: readonly string[];
  assignments: readonly CommandAssignment[];
  redirects: readonly CommandRedirect[];
  input: CommandInput;
  /** Whether a substitution in its words fetches from the network. */
  embedsFetch: boolean;
  /** The command as it was written, for people. */
  source: string;
}
