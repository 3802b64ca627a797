import { expect, it } from 'vitest';
import { proseProblems } from './prose.mjs';
import { PROSE_RULES } from './prose-rules.mjs';

it.each(PROSE_RULES)('prose like "$bad" is found, and "$good" is not', ({ phrase, bad, good }) => {
  expect(bad).toMatch(phrase);
  expect(proseProblems(good)).toEqual([]);
});

it.each([
  ['a page', 'One.\n\nSet apart, but\nfor the last.\n', 3],
  ['a comment', 'let a;\n// Each one, but\n//   for the last.\n', 2],
  ['a docstring', '/**\n * Each one,\n * but\n * for the last.\n */\n', 3],
  ['a message', "fail('ask the operator to mend it');\n", 1],
  ['a paragraph after another', 'One.\nTwo. So is three.\n', 2],
])('a phrase in %s is found in its line', (_, text, line) => {
  expect(proseProblems(text).map((problem) => problem.line)).toEqual([line]);
});

it('two paragraphs are not one phrase', () => {
  expect(proseProblems('He was nothing but\n\nfor once he won.\n')).toEqual([]);
});
