import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { assert, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chunksOf } from './chunks.js';
import { HeadTail } from './head-tail.js';
import { jsonDocument } from './json-document.js';
import { LineReader } from './line-reader.js';
import { WholeText } from './whole-text.js';

function linesOf(pieces: readonly string[], maxChars?: number): string[] {
  const lines: string[] = [];
  const reader = new LineReader((line) => lines.push(line), maxChars);
  for (const piece of pieces) reader.add(piece);
  reader.end();
  return lines;
}

describe('LineReader', () => {
  it.each<[pieces: string[], lines: string[]]>([
    [[], []],
    [['a'], ['a']],
    [['a\n'], ['a']],
    [['a\r\nb'], ['a', 'b']],
    [
      ['a', 'b\nc', 'd'],
      ['ab', 'cd'],
    ],
    [['\n\n'], ['', '']],
  ])('of %j gives %j', (pieces, lines) => {
    expect(linesOf(pieces)).toEqual(lines);
  });

  it('drops a line that is too long, and goes on after it', () => {
    expect(linesOf(['a\nlong', 'er\nb\n'], 4)).toEqual(['a', 'b']);
  });

  fuzz(
    'gives the same lines however the text is cut',
    fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', '😀'), { maxLength: 40 }),
    (pieces) => {
      const text = pieces.join('');
      assert.deepEqual(linesOf([...text]), linesOf([text]));
    },
  );
});

describe('HeadTail', () => {
  it.each([
    [10, ['abc'], 'abc', false],
    [6, ['abc', 'def'], 'abcdef', false],
    [6, ['abc', 'defg'], 'abc\n[1 characters left out]\nefg', true],
    [4, ['😀😀😀'], '😀\n[2 characters left out]\n😀', true],
    [6, ['😀😀😀😀'], '😀\n[4 characters left out]\n😀', true],
  ])('of %i characters keeps of %j %j', (max, pieces, kept, isCut) => {
    const text = new HeadTail(max);
    for (const piece of pieces) text.add(piece);
    expect(text.text()).toBe(kept);
    expect(text.isCut).toBe(isCut);
  });

  fuzz(
    'is well-formed and bounded, and keeps both ends',
    fc.record({
      pieces: fc.array(fc.string({ unit: 'grapheme' })),
      max: fc.integer({ min: 8, max: 60 }),
    }),
    ({ pieces, max }) => {
      const kept = new HeadTail(max);
      for (const piece of pieces) kept.add(piece);
      const whole = pieces.join('');
      const text = kept.text();
      assert(text.isWellFormed());
      assert(text.length <= max + 60);
      if (!kept.isCut) assert.equal(text, whole);
      else assert(whole.startsWith(text.split('\n[')[0] ?? '') || whole.includes('\n['));
    },
  );
});

describe('WholeText', () => {
  it('is nothing where it would be a part', () => {
    const text = new WholeText(4);
    text.add('abcd');
    expect(text.text()).toBe('abcd');
    text.add('e');
    expect(text.text()).toBeUndefined();
  });
});

describe('jsonDocument', () => {
  it.each([
    ['{"a":1}', 1],
    ['noise\n{"a":1}\n', 1],
    ['{ noise\n[more]\n{"a":2}', 2],
    ['{"a":1', undefined],
    ['{"a":"x"}', undefined],
    ['', undefined],
  ])('of %j is %j', (text, value) => {
    const parser = jsonDocument(z.object({ a: z.number() }), ({ a }) => a);
    parser.add(text, 'stdout');
    parser.add('{"a":9}', 'stderr');
    expect(parser.end(0)).toBe(value);
  });
});

describe('chunksOf', () => {
  fuzz(
    'gives well-formed parts of a well-formed text that make it up again',
    fc.record({
      text: anyText({ maxLength: 200 }),
      max: fc.integer({ min: 2, max: 9 }),
    }),
    ({ text, max }) => {
      const chunks = chunksOf(text, max);
      assert.equal(chunks.join(''), text);
      assert(chunks.every((chunk) => chunk.length <= max && chunk.isWellFormed()));
    },
  );
});
