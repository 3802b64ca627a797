/** Something in a text that should not be remembered as it is. Never holds the text itself. */
export interface Finding {
  kind: 'secret' | 'instructions';
  /** For people and models, e.g. `an AWS access key id`. */
  what: string;
  /** From 1. */
  line: number;
}

export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** At most one finding of each kind on a line, in the order of the lines. */
export function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const key = `${finding.line} ${finding.what}`;
    if (!seen.has(key)) seen.set(key, finding);
  }
  return [...seen.values()].sort((a, b) => a.line - b.line);
}
