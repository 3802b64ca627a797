import { describe, expect, it } from 'vitest';
import {
  ABOVE_ZERO,
  assertNumbers,
  assertOptions,
  type OptionNames,
  wrongOption,
} from './options.js';
import { isBoolean } from './shape.js';

interface Options {
  denyPaths?: readonly string[];
  maxCalls?: number;
}
const OPTIONS: OptionNames<Options> = { denyPaths: true, maxCalls: true };

describe('assertOptions', () => {
  it.each([[{}], [{ maxCalls: 1 }], [{ denyPaths: undefined }], [Object.create({ other: 1 })]])(
    'accepts %j',
    (options) => {
      expect(() => assertOptions('createIt', options, OPTIONS)).not.toThrow();
    },
  );

  it.each([
    [undefined, 'the options are missing; give an object with denyPaths, maxCalls'],
    [null, 'the options are not an object; give an object with denyPaths, maxCalls'],
    [[], 'the options are not an object; give an object with denyPaths, maxCalls'],
    [Promise.resolve({ maxCalls: 1 }), 'the options are a promise; await it'],
    ['/etc', 'the options are of type string; give an object with denyPaths, maxCalls'],
    [{ denyPath: ['/etc'] }, 'there is no option "denyPath"; did you mean "denyPaths"?'],
    [{ maxCalls: 1, retries: 2 }, 'there is no option "retries"; there are denyPaths, maxCalls'],
    [{ constructor: 1 }, 'there is no option "constructor"; there are denyPaths, maxCalls'],
  ])('refuses %j', (options, problem) => {
    expect(() => assertOptions('createIt', options, OPTIONS)).toThrow(
      `CONFIG_INVALID: createIt: ${problem}`,
    );
  });
});

describe('assertNumbers', () => {
  it('accepts numbers that fit', () => {
    const limits = { maxSteps: 1, maxMs: 0.5, maxTokens: Number.POSITIVE_INFINITY };
    expect(() => assertNumbers('limits.', limits, ABOVE_ZERO)).not.toThrow();
  });

  it.each([
    [0, '0'],
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    ['3', 'the text "3"'],
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'true'],
  ])('refuses %j', (maxSteps, told) => {
    const limits = { maxCalls: 1, maxSteps };
    expect(() => assertNumbers('limits.', limits, ABOVE_ZERO)).toThrow(
      `CONFIG_INVALID: limits.maxSteps is ${told}; give a number above zero`,
    );
  });
});

describe('wrongOption', () => {
  it('knows only the options that a list names itself', () => {
    const inherited = { all: [() => false, 'nothing'] } as const;
    const values = Object.assign(Object.create(inherited), { own: [isBoolean, 'true or false'] });
    expect(wrongOption({ own: true, all: 1 }, values)).toBeUndefined();
    expect(wrongOption({ own: 1, all: 1 }, values)).toBe('own must be true or false');
  });
});
