import { describe, expect, it } from 'vitest';
import { hidingInUrl, hidingValues } from './hidden-values.js';

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

  it.each([
    ['http://a.test/?p=hunter2&q=1', ['hunter2'], 'http://a.test/?p=(hidden)&q=1'],
    ['http://a.test/?p=my+pass%21+w%C3%B6rd', ['my pass! wörd'], 'http://a.test/?p=(hidden)'],
    ['http://a.test/#my%20pass!%20w%C3%B6rd', ['my pass! wörd'], 'http://a.test/#(hidden)'],
    ['http://a.test/?p=%68unter2', ['hunter2'], 'http://a.test/?p=(hidden)'],
    ['http://a.test/?p=a%2fb+c1', ['a/b c1'], 'http://a.test/?p=(hidden)'],
    ['http://a.test/?p=abc', ['abc'], 'http://a.test/?p=(hidden)'],
    ['http://a.test/abc?p=abcd', ['abc'], 'http://a.test/(hidden)?p=abcd'],
    ['http://a.test/?p=100%&q=%ff', ['hunter2'], 'http://a.test/?p=100%&q=%ff'],
    ['http://a.test/?p=x', [], 'http://a.test/?p=x'],
  ])('%j as a URL without %j is %j', (url, values, shown) => {
    expect(hidingInUrl(values)(url)).toBe(shown);
  });
});
