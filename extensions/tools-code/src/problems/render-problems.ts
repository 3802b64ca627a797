import { shorten } from '@ethosagent/policy';
import type { Problem, Severity } from '../report.js';

const MAX_MESSAGE_CHARS = 600;

/** The number of problems of each severity. */
export type ProblemCounts = Record<Severity, number>;

const ORDER: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

export function countProblems(problems: readonly Problem[]): ProblemCounts {
  const counts: ProblemCounts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of problems) counts[severity] += 1;
  return counts;
}

/** Sorts problems: errors first, then by file and place. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  return [...problems].sort(
    (a, b) =>
      ORDER[a.severity] - ORDER[b.severity] ||
      compare(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column,
  );
}

/** Renders a problem on one line, in the form of compilers. */
export function renderProblem({ file, line, column, severity, rule, message }: Problem): string {
  const place = [file, line || undefined, line && column ? column : undefined];
  const where = place.filter((part) => part !== undefined && part !== '').join(':');
  const text = shorten(message.trim(), MAX_MESSAGE_CHARS).replaceAll('\n', '\n    ');
  const head = [where, severity, rule].filter(Boolean).join(' ');
  return `${head}: ${text}`;
}

/** Renders the counts, e.g. `3 errors, 1 warning`. */
export function renderCounts(counts: ProblemCounts): string {
  const parts = [
    counted(counts.error, 'error'),
    counted(counts.warning, 'warning'),
    counted(counts.info, 'note'),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'no problems' : parts.join(', ');
}

/** Renders as many problems as fit, and says how many were left out. */
export function renderProblems(problems: readonly Problem[], total: number, room: number): string {
  const lines: string[] = [];
  let chars = 0;
  for (const problem of problems) {
    const line = renderProblem(problem);
    chars += line.length + 1;
    if (lines.length > 0 && chars > room) break;
    lines.push(line);
  }
  const left = total - lines.length;
  if (left > 0) lines.push(`[${left} more; give a path to see those of one file or folder]`);
  return lines.join('\n');
}

function counted(count: number, what: string): string {
  if (count === 0) return '';
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
