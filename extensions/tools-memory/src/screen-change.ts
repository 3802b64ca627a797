import { plainLines } from '@ethosagent/policy';
import type { MemorySection } from '@ethosagent/types';
import type { Finding } from './finding.js';
import { renderSection } from './render-memory.js';
import { screenText } from './screen-text.js';

// So much of the text around a change is screened with it. Text further away can't be part of one
// instruction with it.
const AROUND_CHARS = 2_000;

/** Screens a section, heading included. Line numbers count from the first line of its text. */
export async function screenSection(section: MemorySection): Promise<Finding[]> {
  return fromLine(await screenText(renderSection(section)), linesBefore([], section));
}

/**
 * Finds what a change adds to the findings in the whole memory: an attacker could store an
 * instruction in pieces. Line numbers count from the first line of the changed section.
 */
export async function newInMemory(
  before: readonly MemorySection[],
  { heading, after }: { heading: string; after: string | undefined },
): Promise<Finding[]> {
  const isThere = before.some((one) => one.heading === heading);
  const changed = after === undefined ? [] : [{ heading, text: after }];
  const sections = isThere
    ? before.flatMap((one) => (one.heading === heading ? changed : [one]))
    : heading === ''
      ? [...changed, ...before]
      : [...before, ...changed];
  const findings = await newFindings(shown(before), shown(sections));
  const at = sections.findIndex((one) => one.heading === heading);
  const section = sections[at];
  return section === undefined
    ? findings
    : fromLine(findings, linesBefore(sections.slice(0, at), section));
}

function shown(sections: readonly MemorySection[]): string {
  return plainLines(sections.map(renderSection).join('\n\n'));
}

/** Counts the lines above the text of a section, when it is shown after the sections before it. */
function linesBefore(sections: readonly MemorySection[], { heading }: MemorySection): number {
  return shown([...sections, { heading, text: '' }]).split('\n').length - 1;
}

function fromLine(findings: readonly Finding[], first: number): Finding[] {
  return findings.map((finding) => ({ ...finding, line: Math.max(1, finding.line - first) }));
}

/** Screens a text before and after a change, and returns the findings that are new. */
export async function newFindings(before: string, after: string): Promise<Finding[]> {
  if (before === '' || before === after) return [];
  const [begin, end] = changedPart(before, after);
  const fromEnd = after.length - end;
  const wasBefore = part(before, begin, before.length - fromEnd);
  const [old, now] = await Promise.all([
    screenText(wasBefore.text),
    screenText(part(after, begin, end).text),
  ]);
  const known = new Map<string, number>();
  for (const { what } of old) known.set(what, (known.get(what) ?? 0) + 1);
  const lines = after.slice(0, Math.max(0, begin - AROUND_CHARS)).split('\n').length - 1;
  return now
    .filter(({ what }) => {
      const left = known.get(what) ?? 0;
      known.set(what, left - 1);
      return left <= 0;
    })
    .map((finding) => ({ ...finding, line: finding.line + lines }));
}

/** Returns the range of the second text in which it differs from the first. */
function changedPart(before: string, after: string): [begin: number, end: number] {
  const most = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < most && before[begin] === after[begin]) begin += 1;
  let same = 0;
  while (same < most - begin && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return [begin, after.length - same];
}

function part(text: string, begin: number, end: number): { text: string } {
  const around = text.slice(Math.max(0, begin - AROUND_CHARS), end + AROUND_CHARS);
  return { text: around.toWellFormed() };
}
