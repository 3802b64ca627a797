import { shorten } from '@ethosagent/policy';
import type { TestCase, TestStatus } from '../report.js';

const MAX_MESSAGE_CHARS = 2_000;
const MAX_STACK_LINES = 6;
/** Matches lines of a stack that are outside of every project. */
const NOT_OURS = /^\s*at .*(node:|node_modules\/)/;

export type TestCounts = Record<TestStatus, number>;

export function countTests(tests: readonly TestCase[]): TestCounts {
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0, todo: 0 };
  for (const { status } of tests) counts[status] += 1;
  return counts;
}

/** Renders the counts, e.g. `2 of 14 tests failed, 11 passed, 1 skipped`. */
export function renderTestCounts({ passed, failed, skipped, todo }: TestCounts): string {
  const total = passed + failed + skipped + todo;
  const parts = [
    headOf(failed, passed, total),
    passed > 0 ? `${passed} passed` : '',
    skipped > 0 ? `${skipped} skipped` : '',
    todo > 0 ? `${todo} to do` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function headOf(failed: number, passed: number, total: number): string {
  if (failed > 0) return `${failed} of ${total} tests failed`;
  return passed > 0 ? 'no test failed' : 'no test was run';
}

/** Renders a failed test: where it is, what was expected, and the top of the stack. */
export function renderFailure({ name, file, line, failure }: TestCase): string {
  const where = [file, line].filter((part) => part !== undefined).join(':');
  const message = shorten(failure?.message ?? '', MAX_MESSAGE_CHARS);
  const stack = (failure?.stack ?? '').split('\n').filter((text) => !NOT_OURS.test(text));
  const body = [...message.split('\n'), ...stack.slice(0, MAX_STACK_LINES)]
    .filter((text) => text.trim() !== '')
    .map((text) => `  ${text}`);
  return [`FAILED ${where === '' ? '' : `${where} `}${name}`, ...body].join('\n');
}

/** Renders as many failures as fit, then names of others, then the number of the rest. */
export function renderFailures(failures: readonly TestCase[], total: number, room: number): string {
  const parts: string[] = [];
  let chars = 0;
  let told = 0;
  for (const failure of failures) {
    const whole = renderFailure(failure);
    const part = chars + whole.length < room / 2 ? whole : (whole.split('\n')[0] ?? '');
    chars += part.length + 2;
    if (told > 0 && chars > room) break;
    parts.push(part);
    told += 1;
  }
  if (total > told)
    parts.push(`[${total - told} more failures; give a path or a filter to see them]`);
  return parts.join('\n');
}
