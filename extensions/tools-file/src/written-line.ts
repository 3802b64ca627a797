/** A line by its parts. */
export interface WrittenLine {
  text: string;
  indent: string;
  /** The rest, with trailing blanks. */
  body: string;
  /** What it says, without regard to blanks and the shape of quotes. */
  key: string;
}

export function writtenLine(text: string): WrittenLine {
  const indent = /^[ \t]*/.exec(text)?.[0] ?? '';
  return { text, indent, body: text.slice(indent.length), key: lineKey(text) };
}

/** What a line says, without regard to blanks and the shape of quotes; empty for a blank line. */
export function lineKey(text: string): string {
  return straightQuotes(text.trim().replaceAll(/\s+/g, ' '));
}

/** Typographic quotes as those of a keyboard. */
export function straightQuotes(text: string): string {
  return text.replaceAll(/[“”„‟]/g, '"').replaceAll(/[‘’‚‛]/g, "'");
}
