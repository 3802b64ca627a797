import { errorCodeOf, type MemoryChange, type MemorySection } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import {
  applyMemoryChange,
  DEFAULT_MEMORY_LIMITS,
  memoryHeadingKey,
  memorySizeChars,
  memoryText,
} from './memory-rules.js';

const limits = { maxSectionChars: 10, maxDocumentChars: 20 };
const A: MemorySection = { heading: 'A', text: 'one two' };

function outcome(sections: MemorySection[], change: MemoryChange, caps = limits): unknown {
  try {
    return applyMemoryChange(sections, change, caps).map(({ heading, text }) => [heading, text]);
  } catch (error) {
    return errorCodeOf(error) ?? error;
  }
}

// `memoryConformance` tests the rest of the contract of a change.
describe('applyMemoryChange', () => {
  it.each<[string, MemorySection[], MemoryChange, unknown]>([
    ['at the cap', [], { kind: 'add', section: 'A', text: '0123456789' }, [['A', '0123456789']]],
    ['over the cap', [], { kind: 'add', section: 'A', text: '0123456789x' }, 'MEMORY_TOO_LARGE'],
    [
      'over the cap together',
      [A, { ...A, heading: 'B' }],
      { kind: 'add', section: 'C', text: '12345' },
      'MEMORY_TOO_LARGE',
    ],
    [
      'smaller, but still over the cap',
      [{ heading: 'A', text: 'x'.repeat(30) }],
      { kind: 'replace', section: 'A', text: 'x'.repeat(15) },
      [['A', 'x'.repeat(15)]],
    ],
    [
      'larger than over the cap',
      [{ heading: 'A', text: 'x'.repeat(30) }],
      { kind: 'replace', section: 'A', text: 'x'.repeat(31) },
      'MEMORY_TOO_LARGE',
    ],
    [
      'another heading in Unicode',
      [{ heading: 'Café', text: '' }],
      { kind: 'add', section: 'CAFE\u0301', text: 'x' },
      [['Café', 'x']],
    ],
    ['a heading with a NUL', [], { kind: 'add', section: 'a\0', text: '' }, 'VALUE_INVALID'],
    [
      'a heading with a lone surrogate',
      [],
      { kind: 'add', section: '\ud800', text: '' },
      'VALUE_INVALID',
    ],
    [
      'a heading of 201 characters',
      [],
      { kind: 'add', section: 'x'.repeat(201), text: '' },
      'VALUE_INVALID',
    ],
  ])('with %s', (_, sections, change, expected) => {
    expect(outcome(sections, change)).toEqual(expected);
  });

  it('leaves what it was given as it is', () => {
    const sections = Object.freeze([Object.freeze({ ...A })]);
    applyMemoryChange(sections, { kind: 'add', section: 'A', text: 'x' }, DEFAULT_MEMORY_LIMITS);
    expect(sections).toEqual([A]);
  });
});

it.each([
  ['\n \n  a\r\nb \n\n', '  a\nb'],
  ['a\rb', 'a\nb'],
  [' \t\n', ''],
  ['a\ud800', 'a\ufffd'],
])('memoryText of %j is %j', (text, expected) => expect(memoryText(text)).toBe(expected));

it('memoryHeadingKey compares without case, white space around, and Unicode form', () => {
  expect(memoryHeadingKey(' Café ')).toBe(memoryHeadingKey('CAFE\u0301'));
  expect(memoryHeadingKey('a b')).not.toBe(memoryHeadingKey('ab'));
});

it('memorySizeChars counts headings and texts', () => {
  expect(memorySizeChars([A, { heading: '', text: '😀' }])).toBe(10);
});
