import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { reindenter } from './reindent.js';

const blank = fc.string({ unit: fc.constantFrom(' ', '  ', '\t'), maxLength: 4 });
const content = fc.constantFrom('x', 'y z', '', '\u00a0q', '}', 'a\r');
const pair = fc.record({ content, written: blank, actual: blank });
const pairs = fc.array(pair, { minLength: 1, maxLength: 8 });

describe('reindenter, whatever the lines', () => {
  fuzz(
    'gives the examples the indentation of the file, or refuses those that contradict each other',
    pairs,
    (pairs) => {
      const telling = pairs.filter(({ content }) => content.trim() !== '');
      const pairings = new Set(telling.map(({ written, actual }) => `${written}|${actual}`));
      const isClear = pairings.size === new Set(telling.map(({ written }) => written)).size;
      const wanted = pairs.map(({ written, content }) => written + content);
      const found = pairs.map(({ actual, content }) => actual + content);
      const reindent = reindenter(wanted, found);
      expect(reindent !== undefined).toBe(isClear);
      const given = reindent?.(wanted.join('\n')).split('\n');
      for (const [at, { content }] of pairs.entries()) {
        if (content.trim() !== '' && given) expect(given[at]).toBe(found[at]);
      }
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'changes nothing but indentation, and nothing where the file has what was written',
    fc.tuple(pairs, fc.array(fc.tuple(blank, content), { maxLength: 6 })),
    ([pairs, lines]) => {
      const text = lines.map(([indent, content]) => indent + content).join('\n');
      const wanted = pairs.map(({ written, content }) => written + content);
      expect(reindenter(wanted, wanted)?.(text)).toBe(text);
      const found = pairs.map(({ actual, content }) => actual + content);
      const given = reindenter(wanted, found)?.(text);
      if (given === undefined) return;
      const bare = (text: string) => text.split('\n').map((line) => line.replace(/^[ \t]+/, ''));
      expect(bare(given)).toEqual(bare(text));
    },
    { runs: { check: 100, long: 100_000 } },
  );

  growsLinearly(
    'takes linear time for many lines that are nowhere in the examples',
    (size) => ({
      examples: Array.from({ length: 200 }, (_, at) => ' '.repeat(at)),
      text: Array.from({ length: size / 100 }, (_, at) => `${' '.repeat(at % 100)}\tx`).join('\n'),
    }),
    ({ examples, text }) =>
      reindenter(
        examples.map((indent) => `${indent}x`),
        examples.map((indent) => `\t${indent}x`),
      )?.(text),
  );
});
