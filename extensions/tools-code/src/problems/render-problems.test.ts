import { describe, expect, it } from 'vitest';
import type { Problem } from '../report.js';
import {
  countProblems,
  inOrder,
  renderCounts,
  renderProblem,
  renderProblems,
} from './render-problems.js';

const problem = (of: Partial<Problem> = {}): Problem => ({
  file: 'a.ts',
  line: 1,
  column: 2,
  severity: 'error',
  message: 'wrong',
  ...of,
});

describe('renderProblem', () => {
  it.each<[Partial<Problem>, string]>([
    [{}, 'a.ts:1:2 error: wrong'],
    [{ rule: 'r' }, 'a.ts:1:2 error r: wrong'],
    [{ column: 0 }, 'a.ts:1 error: wrong'],
    [{ line: 0, column: 0 }, 'a.ts error: wrong'],
    [{ file: '', line: 0, column: 0 }, 'error: wrong'],
    [{ message: 'wrong\nbecause' }, 'a.ts:1:2 error: wrong\n    because'],
  ])('of %j is %j', (of, text) => {
    expect(renderProblem(problem(of))).toBe(text);
  });

  it('cuts a long message', () => {
    expect(renderProblem(problem({ message: 'x'.repeat(10_000) })).length).toBeLessThan(700);
  });
});

describe('renderProblems', () => {
  const many = Array.from({ length: 50 }, (_, at) => problem({ line: at + 1 }));

  it('counts what does not fit', () => {
    const text = renderProblems(many, 80, 200);
    const shown = text.split('\n').length - 1;
    expect(text.length).toBeLessThan(300);
    expect(text).toContain(`[${80 - shown} more; give a path`);
  });

  it('shows one in any case', () => {
    expect(renderProblems(many, 50, 0)).toMatch(/^a\.ts:1:2 error: wrong\n\[49 more/);
  });
});

it('inOrder puts errors first, then files and places', () => {
  const given = [
    problem({ severity: 'warning', file: 'a.ts' }),
    problem({ file: 'b.ts', line: 9 }),
    problem({ file: 'b.ts', line: 10 }),
    problem({ file: 'a.ts', line: 3 }),
  ];
  expect(inOrder(given).map(({ severity, file, line }) => `${severity} ${file} ${line}`)).toEqual([
    'error a.ts 3',
    'error b.ts 9',
    'error b.ts 10',
    'warning a.ts 1',
  ]);
});

it.each([
  [[], 'no problems'],
  [[problem()], '1 error'],
  [[problem(), problem(), problem({ severity: 'info' })], '2 errors, 1 note'],
])('renderCounts', (problems, text) => {
  expect(renderCounts(countProblems(problems))).toBe(text);
});
