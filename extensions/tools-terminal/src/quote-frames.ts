// The lines that the tools themselves write around the output of a command.
const OWN_LINE =
  /^(?=\\*(?:\[(?:stderr|stdout)\]$|\((?:no output(?: yet)?|nothing new)\)$|\[(?:… )?\d+ (?:characters|of \d+ lines) |\[the screen; the cursor is in |\[it (?:wrote|did not write) "|\[failures first; |\[(?:all|the beginning) of the output is in |\[the rest was not kept|exit code \d+ \(|ended by \w+, exit code |timed out after \d+ ms|[\w-]{1,60} (?:is running|has ended|was ended by )))/gm;

/** Puts a backslash before lines that look like lines of the tool itself. */
export function quoteFrames(output: string): string {
  return output.replace(OWN_LINE, '\\');
}
