/** Something that should not be remembered. It never holds the found text itself. */
export interface Finding {
  kind: 'secret' | 'instructions';
  /** What was found, in words for people and models, e.g. `an AWS access key id`. */
  what: string;
  /** The line in the text, counted from 1. */
  line: number;
}

export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** Keeps one finding of each kind per line, and sorts them by line. */
export function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const key = `${finding.line} ${finding.what}`;
    if (!seen.has(key)) seen.set(key, finding);
  }
  return [...seen.values()].sort((a, b) => a.line - b.line);
}
