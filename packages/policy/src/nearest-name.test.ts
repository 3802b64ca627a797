import { expect, it } from 'vitest';
import { editDistance, nearestName } from './nearest-name.js';

it.each([
  ['read_fil', ['write_file', 'read_file'], 2, 'read_file'],
  ['reed_file', ['read_file', 'seed_file'], 2, 'read_file'],
  ['terminal', ['read_file'], 3, undefined],
  ['ab', ['abcd'], 2, 'abcd'],
  ['ab', ['abcde'], 2, undefined],
  ['x', [], 2, undefined],
  ['a'.repeat(64), ['a'.repeat(63)], 2, undefined],
])('nearestName of %j among %j within %i is %j', (name, known, maxDistance, nearest) => {
  expect(nearestName(name, known, maxDistance)).toBe(nearest);
});

it.each([
  ['todocount', ['todo_list', 'todo_count'], 'todo_count'],
  ['ReadFile', ['write_file', 'read_file'], 'read_file'],
  ['READ-FILE', ['reed_file', 'read_file'], 'read_file'],
  ['ls', ['lsof', 'lp'], 'lp'],
  ['ls', ['rm', 'cat'], undefined],
  ['terminl', ['terminal', 'terminal_start'], 'terminal'],
  ['serach_fils', ['search_files'], 'search_files'],
  ['gti', ['pip', 'git'], 'git'],
  ['tab', ['bat', 'cab'], 'bat'],
  ['', ['_', 'ab'], '_'],
  ['weather', ['whether_or_not', 'leather'], 'leather'],
])(
  'nearestName of %j among %j is %j, by the slips that its length allows',
  (name, known, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  },
);

it('editDistance counts insertions, removals and replacements', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3);
});
