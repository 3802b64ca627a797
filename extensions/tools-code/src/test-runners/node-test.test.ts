import { describe, expect, it } from 'vitest';
import { scriptOptions } from './node-test.js';

describe('scriptOptions', () => {
  it.each([
    ['node --test', []],
    ['node --import tsx --test test/', ['--import', 'tsx']],
    ['node --test --experimental-strip-types a.test.ts', ['--experimental-strip-types']],
    ['node --test --test-reporter=spec --watch', []],
    ['node --test "src/**/*.test.js"', []],
    ['node --test && rm -r x', []],
    ['NODE_ENV=test node --test x', []],
    ['c8 node --test x', []],
    ['', []],
  ])('of %j are %j', (script, options) => {
    expect(scriptOptions(script)).toEqual(options);
  });
});
