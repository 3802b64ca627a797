import { describe, expect, it } from 'vitest';
import { scriptArguments } from './node-test.js';

describe('scriptArguments', () => {
  it.each([
    ['node --test', [], []],
    ['node --import tsx --test test/', ['--import', 'tsx'], ['test/']],
    [
      'node --test --experimental-strip-types a.test.ts',
      ['--experimental-strip-types'],
      ['a.test.ts'],
    ],
    ['node --test --test-reporter=spec --watch', [], []],
    ['node --test "src/**/*.test.js"', [], []],
    ['node --test && rm -r x', [], []],
    ['NODE_ENV=test node --test x', [], []],
    ['c8 node --test x', [], []],
    ['', [], []],
  ])('of %j are %j and %j', (script, options, places) => {
    expect(scriptArguments(script)).toEqual({ options, places });
  });
});
