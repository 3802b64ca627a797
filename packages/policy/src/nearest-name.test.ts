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

it('editDistance counts insertions, removals and replacements', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3);
});
