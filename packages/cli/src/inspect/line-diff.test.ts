import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentLines, lineDiff } from './line-diff.js';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });

describe('lineDiff', () => {
  it('has both texts in it, in their order', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = lineDiff(before, after);
        const of = (left: string) => diff.flatMap(({ kind, text }) => (kind === left ? [] : text));
        expect(of('new')).toEqual(before);
        expect(of('old')).toEqual(after);
      }),
    );
  });

  it('says that nothing differs where nothing does', () => {
    fc.assert(
      fc.property(lines, (text) => {
        expect(lineDiff(text, text).every(({ kind }) => kind === 'same')).toBe(true);
      }),
    );
  });

  it('finds one line that was put in among many', () => {
    const before = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
    const after = [...before.slice(0, 2_500), 'new', ...before.slice(2_500)];
    expect(lineDiff(before, after).filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'new', text: 'new' },
    ]);
  });

  it('shows texts that have nothing in common, and are large, as a whole', () => {
    const many = (name: string) => Array.from({ length: 5_000 }, (_, index) => `${name} ${index}`);
    const diff = lineDiff(many('a'), many('b'));
    expect([diff.length, diff[0]?.kind, diff.at(-1)?.kind]).toEqual([10_000, 'old', 'new']);
  });
});

describe('argumentLines', () => {
  it.each([
    [{ a: 1, b: 'x' }, ['a: 1', 'b: "x"']],
    [{ text: 'one\ntwo' }, ['text:', '  one', '  two']],
    [{}, []],
    [null, ['null']],
    [undefined, ['']],
    [['a'], ['[', '  "a"', ']']],
  ])('of %j are %j', (args, expected) => {
    expect(argumentLines(args)).toEqual(expected);
  });
});
