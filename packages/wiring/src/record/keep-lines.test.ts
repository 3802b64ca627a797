import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { keepLines } from './keep-lines.js';

/** What the library writes after a change. */
const rewritten = (text: string, change: (document: ReturnType<typeof parseDocument>) => void) => {
  const document = parseDocument(text);
  change(document);
  return document.toString({ lineWidth: 0 });
};
const lines = (...all: string[]) => `${all.join('\n')}\n`;

const FILE = lines(
  '# Written by hand.',
  'name:   "Coder"',
  'soul: |',
  '    # not a comment',
  '    text',
  '',
  '# What it may run.',
  'toolset: [read_file, write_file]  # two',
  'skills: { a: [x],b: [ y ] }',
  'fs_reach:',
  '    # Notes.',
  '    read:',
  '    - ./notes   # all',
  "    - './docs'",
  '    write: [./notes]',
  '# The end.',
);

it.each<[string, string, (document: ReturnType<typeof parseDocument>) => void, string, string]>([
  [
    'a list in brackets',
    FILE,
    (document) => document.setIn(['toolset', 1], 'terminal'),
    'toolset: [read_file, write_file]  # two\n',
    'toolset: [ read_file, terminal ] # two\n',
  ],
  [
    'an item',
    FILE,
    (document) => document.setIn(['fs_reach', 'read', 1], './src'),
    "    - './docs'\n",
    "    - './src'\n",
  ],
  [
    'an item that is added',
    FILE,
    (document) => document.addIn(['fs_reach', 'read'], './src'),
    "    - './docs'\n",
    "    - './docs'\n    - ./src\n",
  ],
  [
    'a key that is removed, at the end',
    FILE,
    (document) => document.deleteIn(['fs_reach', 'write']),
    '    write: [./notes]\n',
    '',
  ],
  [
    'a key that is added, at the end',
    FILE,
    (document) => document.setIn(['memory'], 'on'),
    '# The end.\n',
    'memory: on\n# The end.\n',
  ],
  [
    'a mapping that is removed, with the comment above it',
    FILE,
    (document) => document.deleteIn(['toolset']),
    '\n# What it may run.\ntoolset: [read_file, write_file]  # two\n',
    '',
  ],
  [
    'the last line, which has no end',
    'a: [x]\nb:   1',
    (document) => document.setIn(['c'], 2),
    'b:   1',
    'b:   1\nc: 2\n',
  ],
  [
    'a file with the line ends of Windows',
    'a: [x]\r\nb:\r\n  - 1\r\n',
    (document) => document.addIn(['b'], 2),
    '  - 1\r\n',
    '  - 1\r\n  - 2\r\n',
  ],
])('keepLines changes nothing but %s', (_, before, change, was, is) => {
  const after = rewritten(before, change);
  const kept = keepLines(before, after);
  expect(kept).toBe(before.replace(was, () => is));
  expect(parseDocument(kept).toJSON()).toEqual(parseDocument(after).toJSON());
});

it('keepLines takes a text whole that is one line in braces', () => {
  expect(keepLines('{a: 1}\n', '{ a: 2 }\n')).toBe('{ a: 2 }\n');
});
