/** What a policy says to a command. */
export type Decision = 'allow' | 'ask' | 'deny';

const SEVERITY: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** Why a command is not simply allowed. */
export interface Finding {
  decision: Exclude<Decision, 'allow'>;
  /** The built-in rule by its name, or the pattern of the operator's rule. */
  rule: string;
  /** The part of the command that it is about. */
  command: string;
  /** What is wrong with it. */
  why: string;
}

/** What a policy says to a whole command line. */
export interface Verdict {
  decision: Decision;
  /** The most severe first. Empty when all of it is allowed. */
  findings: Finding[];
}

/** Merges findings. Each rule is reported once for each part. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const unique = new Map<string, Finding>();
  for (const finding of findings) {
    unique.set(`${finding.rule}\0${finding.decision}\0${finding.command}`, finding);
  }
  const sorted = [...unique.values()].sort((a, b) => SEVERITY[b.decision] - SEVERITY[a.decision]);
  return { decision: sorted[0]?.decision ?? 'allow', findings: sorted };
}
