/** How many tests there were, by their end. */
export interface Totals {
  passed: number;
  failed: number;
  /** Skipped, pending, and to be done. */
  left: number;
}

const number = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].reduce((sum, [, found]) => sum + Number(found), 0);

/** What each runner says at the end to people. */
const SUMMARIES = {
  mocha: (text) => ({
    passed: number(text, /^\s+(\d+) passing/gm),
    failed: number(text, /^\s+(\d+) failing/gm),
    left: number(text, /^\s+(\d+) pending/gm),
  }),
  tape: (text) => {
    const tests = number(text, /^# tests (\d+)$/gm);
    const passed = number(text, /^# pass +(\d+)$/gm);
    // It counts what is skipped among what passed.
    const left = [...text.matchAll(/^(?:not )?ok \d+ .*# (?:SKIP|TODO)/gm)].length;
    return { passed: passed - left, failed: tests - passed, left };
  },
  tap: (text) => ({
    passed: number(text, /^\s*# { .*pass: (\d+)/gm),
    failed: number(text, /^\s*# { .*fail: (\d+)/gm),
    left: number(text, /^\s*# { .*skip: (\d+)/gm) + number(text, /^\s*# { .*todo: (\d+)/gm),
  }),
  // Of versions before 13, whose reporter is one of Mocha's.
  tap12: (text) => ({
    passed: number(text, /^\s+(\d+) passing/gm),
    failed: number(text, /^\s+(\d+) failing/gm),
    left: number(text, /^\s+(\d+) pending/gm),
  }),
  ava: (text) => ({
    // Where any failed, its summary has no line of those that passed.
    passed: [...text.matchAll(/^\s*✔ /gm)].length,
    failed: number(text, /^\s+(\d+) tests? failed/gm),
    left: number(text, /^\s+(\d+) tests? (?:skipped|todo)/gm),
  }),
  jest: (text) => ({
    passed: number(text, /^Tests:.*?(\d+) passed/gm),
    failed: number(text, /^Tests:.*?(\d+) failed/gm),
    left: number(text, /^Tests:.*?(\d+) skipped/gm) + number(text, /^Tests:.*?(\d+) todo/gm),
  }),
  vitest: (text) => ({
    passed: number(text, /^\s*Tests .*?(\d+) passed/gm),
    failed: number(text, /^\s*Tests .*?(\d+) failed/gm),
    left: number(text, /^\s*Tests .*?(\d+) skipped/gm) + number(text, /^\s*Tests .*?(\d+) todo/gm),
  }),
  node: (text) => ({
    passed: number(text, /^(?:#|ℹ) pass (\d+)$/gm),
    failed: number(text, /^(?:#|ℹ) fail (\d+)$/gm),
    left: number(text, /^(?:#|ℹ) skipped (\d+)$/gm) + number(text, /^(?:#|ℹ) todo (\d+)$/gm),
  }),
  bun: (text) => ({
    passed: number(text, /^ (\d+) pass$/gm),
    failed: number(text, /^ (\d+) fail$/gm),
    left: number(text, /^ (\d+) skip$/gm) + number(text, /^ (\d+) todo$/gm),
  }),
  deno: (text) => ({
    passed:
      number(text, /^(?:ok|FAILED) \| (\d+) passed/gm) + number(text, /passed \((\d+) steps?\)/g),
    failed: number(text, /\| (\d+) failed/g) + number(text, /failed \((\d+) steps?\)/g),
    left: number(text, /\| (\d+) ignored/g),
  }),
  rspec: (text) => {
    const [all, failed] = [/^(\d+) examples?/gm, /^\d+ examples?, (\d+) failures?/gm].map((each) =>
      number(text, each),
    );
    const left = number(text, /^\d+ examples?.* (\d+) pending/gm);
    return { passed: (all ?? 0) - (failed ?? 0) - left, failed: failed ?? 0, left };
  },
  phpunit: (text) => {
    const all = number(text, /^(?:OK \(|Tests: )(\d+)/gm);
    const failed = number(text, /(?:Failures|Errors): (\d+)/g);
    const left = number(text, /(?:Skipped|Incomplete): (\d+)/g);
    return { passed: all - failed - left, failed, left };
  },
} satisfies Record<string, (text: string) => Totals>;

export type SummaryKind = keyof typeof SUMMARIES | 'exit code';

/** Reads the totals that a run printed for people; nothing but 0 where only its exit code counts. */
export function totalsIn(kind: SummaryKind, text: string): Totals {
  if (kind === 'exit code') return { passed: 0, failed: 0, left: 0 };
  return SUMMARIES[kind](text);
}
