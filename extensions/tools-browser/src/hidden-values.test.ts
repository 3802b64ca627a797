import { describe, expect, it } from 'vitest';
import { hidingValues } from './hidden-values.js';

describe('hidingValues', () => {
  it.each([
    ['the password is hunter2!', ['hunter2!'], 'the password is (hidden)'],
    ['hunter2 and hunter2!', ['hunter2', 'hunter2!'], '(hidden) and (hidden)'],
    ['name a b c d', ['a  b\tc d'], 'name (hidden)'],
    ['cat', ['a'], 'cat'],
    [' a ', ['a'], '(hidden)'],
    ['$& stays', ['$&aa', ''], '$& stays'],
    ['anything', [], 'anything'],
  ])('%j without %j is %j', (text, values, shown) => {
    expect(hidingValues(values)(text)).toBe(shown);
  });
});
