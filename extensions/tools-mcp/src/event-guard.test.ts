import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { errorCodeOf } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventGuard } from './event-guard.js';

const DEEP = 60;
const open = '['.repeat(DEEP);

/** The events of a stream that comes in pieces, or the code of the error that ends it. */
function read(pieces: readonly string[], maxChars = 1_000): string[] | string | undefined {
  const guard = new EventGuard(maxChars);
  try {
    return pieces.flatMap((piece) => [...guard.push(piece)].filter((event) => event !== ''));
  } catch (error) {
    return errorCodeOf(error);
  }
}

describe('EventGuard', () => {
  it.each([
    ['\\n', 'data: 1\n\ndata: 2\n\n'],
    ['\\r\\n', 'data: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['\\r', 'data: 1\r\rdata: 2\r\r'],
    ['comments between', ': hi\ndata: 1\n\n:\n\ndata: 2\n\n'],
    ['an event that does not end', 'data: 1\n\ndata: 2\n\ndata: 3\n'],
  ])('finds the events whose lines end with or hold %s, in any pieces', (_name, stream) => {
    const expected = ['data: 1\n\n', 'data: 2\n\n'];
    expect(read([stream])).toEqual(expected);
    expect(read([...stream])).toEqual(expected);
  });

  it.each([
    ['a line without end', Array.from({ length: 20 }, () => 'x'.repeat(100))],
    ['lines of data, each a piece', Array.from({ length: 20 }, () => `data: ${'x'.repeat(94)}\n`)],
    ['comments', Array.from({ length: 20 }, () => `:${'x'.repeat(99)}\n`)],
    ['lines that end on \\r', Array.from({ length: 20 }, () => `data: ${'x'.repeat(94)}\r`)],
    ['empty fields', Array.from({ length: 1_001 }, () => 'a\n')],
    ['brackets over lines', [`data: ${open}\n`, `data: ${open}\n`, '\n']],
    ['brackets after a quote in a comment', [': "\n', `data: ${open}${open}\n\n`]],
    ['brackets after a quote in another field', ['id: "\n', `data: ${open}${open}\n\n`]],
    ['brackets without a space before', [`data:${open}${open}\n\n`]],
    ['brackets after marks of the byte order', [`\uFEFF\uFEFFdata: ${open}${open}\n\n`]],
    ['brackets after such a mark and a comment', [`:\n\n\uFEFFdata: ${open}${open}\n\n`]],
  ])('ends a stream of %s', (_name, pieces) => {
    expect(read(pieces)).toBe('BODY_TOO_LARGE');
  });

  it.each([
    ['before an event', '\uFEFF\uFEFFdata: 1\n\n'],
    ['before a comment', '\uFEFF: hi\ndata: 1\n\n'],
    ['on a line of its own', 'data: 1\n\uFEFF\n\n'],
  ])('passes on no mark of the byte order that stands %s', (_name, stream) => {
    expect(read([...stream])).toEqual(['data: 1\n\n']);
  });

  it('measures each event by itself, and not the brackets of its texts', () => {
    const event = `data: {"a":"${open}${open}"}\n\n`;
    expect(read(Array.from({ length: 50 }, () => event))).toHaveLength(50);
  });

  fuzz(
    'passes on the same, however the stream is cut',
    fc.tuple(
      fc.stringMatching(/^(?:[ab:\r\n]|data: ?|\n\n){0,40}$/),
      fc.integer({ min: 1, max: 5 }),
    ),
    ([stream, size]) => {
      const pieces = stream.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(read(pieces)).toEqual(read([stream]));
    },
  );

  growsLinearly(
    'takes linear time',
    (size) => 'data: [\n'.repeat(size),
    (text) => [...new EventGuard(Number.MAX_SAFE_INTEGER).push(text)],
  );
});
