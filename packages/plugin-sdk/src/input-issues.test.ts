import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeIssues } from './input-issues.js';

describe('describeIssues', () => {
  it.each([
    ['no path', undefined, 'is wrong'],
    ['an empty path', [], 'is wrong'],
    ['a key', ['city'], 'city: is wrong'],
    ['keys', ['a', 'b'], 'a.b: is wrong'],
    ['an index', ['days', 2], 'days[2]: is wrong'],
    ['an index first', [0, 'name'], '[0].name: is wrong'],
    ['segments', [{ key: 'days' }, { key: 2 }], 'days[2]: is wrong'],
    ['a key with a dot', ['a.b'], '["a.b"]: is wrong'],
    ['an empty key', [''], '[""]: is wrong'],
    ['a symbol', [Symbol('s')], '["Symbol(s)"]: is wrong'],
  ])('renders %s', (_name, path, expected) => {
    expect(
      describeIssues(
        [path === undefined ? { message: 'is wrong' } : { message: 'is wrong', path }],
        {},
      ),
    ).toBe(expected);
  });

  it.each([
    [
      'a type',
      { paths: 3 },
      'paths: expected string, received number, or expected array, received number',
    ],
    [
      'a key',
      { paths: [1] },
      'paths: expected string, received array, or [0]: expected string, received number',
    ],
  ])('says of a union what each branch lacks: %s', (_name, args, expected) => {
    const schema = z.object({ paths: z.union([z.string(), z.array(z.string())]) });
    expect(describeIssues(schema.safeParse(args).error?.issues ?? [], args)).toBe(expected);
  });

  it("keeps the author's message of a union, and shows no value of a branch", () => {
    const told = z.union([z.string(), z.boolean()], 'give a name or false');
    expect(describeIssues(told.safeParse(1).error?.issues ?? [], 1)).toBe('give a name or false');
    const echoes = z.union([
      z.literal(1),
      z.string().refine(() => false, { error: ({ input }) => `was ${input}` }),
    ]);
    const text = 'sk-live-12345678';
    const { issues } = echoes.safeParse(text).error ?? { issues: [] };
    expect(describeIssues(issues, text)).toContain('was …');
  });

  it('joins issues in order', () => {
    const issues = [
      { message: 'one', path: ['a'] },
      { message: 'two', path: ['b'] },
    ];
    expect(describeIssues(issues, {})).toBe('a: one; b: two');
  });

  it('says something when there are no issues', () => {
    expect(describeIssues([], {})).toBe('the arguments are invalid');
  });

  it.each([
    ['quoted', 'must be a number (was "hunter2")', 'token: must be a number (was "…")'],
    ['single-quoted', "received 'hunter2'", "token: received '…'"],
  ])('leaves out a %s value', (_name, message, expected) => {
    expect(describeIssues([{ message, path: ['token'] }], { token: 'hunter2' })).toBe(expected);
  });

  it.each([
    ['a string', 'sk-live-12345678'],
    ['a number', 4111111111111111],
    ['a value below', { deep: ['sk-live-12345678'] }],
  ])('leaves out %s that is echoed bare', (_name, token) => {
    const text = typeof token === 'object' ? 'sk-live-12345678' : String(token);
    expect(describeIssues([{ message: `was ${text}!`, path: ['token'] }], { token })).toBe(
      'token: was …!',
    );
  });

  it('leaves out a value below the path of an issue about a missing key', () => {
    const issue = { message: 'got {"a":"sk-live-12345678"}', path: ['missing'] };
    expect(describeIssues([issue], { a: 'sk-live-12345678' })).toBe('missing: got {"a":"…"}');
  });

  it('keeps words of the message that are also short values', () => {
    const issue = { message: 'expected number, received string', path: ['n'] };
    expect(describeIssues([issue], { n: 'number' })).toBe('n: expected number, received string');
  });

  it('bounds a message, a key, a path and the number of issues', () => {
    const issue = {
      message: 'm'.repeat(100_000),
      path: Array.from({ length: 1_000 }, () => 'k'.repeat(10_000)),
    };
    const text = describeIssues(
      Array.from({ length: 5_000 }, () => issue),
      {},
    );
    expect(text.length).toBeLessThan(100_000);
    expect(text).toMatch(/; and 4950 more$/);
  });

  it('never cuts inside a surrogate pair', () => {
    const text = describeIssues([{ message: `${'m'.repeat(199)}😀 and more` }], {});
    expect(text).toBe(`${'m'.repeat(199)}…`);
  });

  it.each([
    [
      'cyclic',
      () => {
        const a: Record<string, unknown> = {};
        a.self = a;
        return a;
      },
    ],
    [
      '10,000 levels deep',
      () => {
        let a: unknown = 'x';
        for (let i = 0; i < 10_000; i += 1) a = [a];
        return a;
      },
    ],
    ['an array of a million', () => new Array(1_000_000).fill('value')],
  ])('copes with arguments that are %s', (_name, make) => {
    expect(describeIssues([{ message: 'is wrong' }], make())).toBe('is wrong');
  });
});
