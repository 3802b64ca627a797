/** Where a command reads from. */
export type CommandInput =
  | { from: 'nothing' | 'file' | 'fetch' }
  /** `found`: paths that stand for the names that `find` writes; `said`: what `echo` does. */
  | { from: 'pipe'; found?: readonly string[]; said?: string }
  /** A here-document or here-string, with marks for what is not known of it. */
  | { from: 'text'; text: string };

/** An assignment before a command, or in its place. */
export interface CommandAssignment {
  name: string;
  value: string;
  /** It adds to what is there. */
  appends?: boolean;
  /** It is exported to the programs that run after it. */
  isExported?: boolean;
  /** It only exports the current value. */
  isKept?: boolean;
  isRemoved?: boolean;
  /** The name becomes a reference to another variable. */
  isReference?: boolean;
}

/** A redirection to or from a file. */
export interface CommandRedirect {
  reads: boolean;
  writes: boolean;
  target: string;
}

/** One command without any other in it, as rules see it. Its words are marked text. */
export interface SimpleCommand {
  /** The name of the program without its folder. `undefined` when it is only known at run time, `''` when there is none. */
  name: string | undefined;
  /** The same with its folder, if it was given one. */
  written: string;
  args: readonly string[];
  assignments: readonly CommandAssignment[];
  redirects: readonly CommandRedirect[];
  input: CommandInput;
  /** Whether a substitution in its words fetches from the network. */
  embedsFetch: boolean;
  /** As it was written, for people. */
  source: string;
}
