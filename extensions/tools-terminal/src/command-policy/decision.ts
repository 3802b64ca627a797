/** The decision of a policy about a command. */
export type Decision = 'allow' | 'ask' | 'deny';

const SEVERITY: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** A reason why a command is not allowed without a question. */
export interface Finding {
  decision: Exclude<Decision, 'allow'>;
  /** The name of the built-in rule, or the pattern of the operator's rule. */
  rule: string;
  /** The part of the command line that the rule is about. */
  command: string;
  /** What is wrong with that part, in words that come after the command in a sentence. */
  why: string;
}

/** The decision of a policy about a whole command line, with its reasons. */
export interface Verdict {
  decision: Decision;
  /** The reasons, the most severe first. Empty when the whole line is allowed. */
  findings: Finding[];
}

/** Merges findings into a verdict. Each rule is reported once for each part. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const unique = new Map<string, Finding>();
  for (const finding of findings) {
    unique.set(`${finding.rule}\0${finding.decision}\0${finding.command}`, finding);
  }
  const sorted = [...unique.values()].sort((a, b) => SEVERITY[b.decision] - SEVERITY[a.decision]);
  return { decision: sorted[0]?.decision ?? 'allow', findings: sorted };
}
