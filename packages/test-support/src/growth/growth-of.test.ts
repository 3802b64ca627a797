import { describe, expect, it } from 'vitest';
import { growthOf, steepParts } from './growth-of.js';

const growths = await growthOf(new URL('fixtures/known-growth.ts', import.meta.url));
const problemsOf = (name: string) =>
  steepParts(growths.find((growth) => growth.name === name) ?? { name, measured: [] });

describe('steepParts', () => {
  it.each(['a loop', 'a sort', 'a list that is copied', 'a folder that is read', 'a constant'])(
    'takes %s for linear',
    (name) => {
      expect(problemsOf(name)).toEqual([]);
    },
  );

  it.each([
    ['a loop in a loop', 'blocks'],
    ['a look through a list for each item', 'items'],
    ['a list that is copied for each item', 'items'],
    ['a list that loses its first item again and again', 'items'],
    ['a pattern that goes back', 'characters'],
    ['a pattern that goes back, in a text that is split', 'characters'],
    ['a file that is read for each line', 'fileBytes'],
    ['a file that is read for each line, with a callback', 'fileBytes'],
    ['a folder that is looked at for each pair of files', 'fileCalls'],
    ['a count of its own', 'counted'],
  ])('finds %s', (name, count) => {
    const problems = problemsOf(name);
    expect(problems.join()).toContain(` ${count} for `);
  });
});
