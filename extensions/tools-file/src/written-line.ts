/** A line, split into its parts. */
export interface WrittenLine {
  text: string;
  indent: string;
  /** The text after the indentation, with trailing blanks. */
  body: string;
  /** The text to compare lines by: trimmed, with single blanks and straight quotes. */
  key: string;
}

export function writtenLine(text: string): WrittenLine {
  const indent = /^[ \t]*/.exec(text)?.[0] ?? '';
  return { text, indent, body: text.slice(indent.length), key: lineKey(text) };
}

/** Returns a line in the form in which lines are compared. It is empty for a blank line. */
export function lineKey(text: string): string {
  return straightQuotes(text.trim().replaceAll(/\s+/g, ' '));
}

/** Replaces typographic quotes with straight ones. */
export function straightQuotes(text: string): string {
  return text.replaceAll(/[“”„‟]/g, '"').replaceAll(/[‘’‚‛]/g, "'");
}
