import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { fileLines } from './file-lines.js';
import { linesOf } from './text-lines.js';

const line = fc.constantFrom('', 'a', 'é', 'some words', '\r', 'x'.repeat(100));
const text = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 300 })
  .chain((lines) => fc.tuple(fc.constant(lines.flat().join('')), fc.constantFrom('', 'end')))
  .map(([lines, end]) => lines + end);
const numbers = fc.array(fc.integer({ min: 1, max: 310 }), { minLength: 1, maxLength: 20 });

describe('fileLines, whatever is asked in whatever order', () => {
  fuzz('gives the lines of the text', fc.tuple(text, numbers), async ([text, numbers]) => {
    const at = await fileLines(Buffer.from(text));
    const lines = linesOf(text);
    expect(numbers.map((number) => at?.(number))).toEqual(
      numbers.map((number) => lines[number - 1]?.text),
    );
  });
});
