import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { explainingMaps, type IndentExample } from './indent-maps.js';

const blank = fc.string({ unit: fc.constantFrom(' ', '  ', '\t'), maxLength: 4 });
const examples = fc.array(fc.tuple(blank, blank), { minLength: 1, maxLength: 8 });

describe('explainingMaps, whatever the examples', () => {
  fuzz(
    'gives maps that explain each of them, and one at least where they are one to one',
    examples,
    (examples) => {
      const maps = explainingMaps(examples);
      const distinct = (texts: string[]) => new Set(texts).size;
      const written = distinct(examples.map(([one]) => one));
      const actual = distinct(examples.map(([, one]) => one));
      const pairings = distinct(examples.map((pair) => pair.join('|')));
      if (pairings === written && pairings === actual) expect(maps.length).toBeGreaterThan(0);
      if (pairings > written) expect(maps).toEqual([]);
      for (const map of maps) {
        for (const [one, actual] of examples) expect(map(one)).toBe(actual);
      }
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'gives indentation and nothing else',
    fc.tuple(examples, blank),
    ([examples, asked]) => {
      for (const map of explainingMaps(examples)) expect(map(asked) ?? '').toMatch(/^[ \t]*$/);
    },
    { runs: { check: 100, long: 100_000 } },
  );

  growsLinearly(
    'takes linear time for many examples',
    (size) =>
      Array.from({ length: size }, (_, at): IndentExample => {
        const indent = ' '.repeat(at % 50);
        return [indent, `\t${indent}`];
      }),
    explainingMaps,
  );
});
