import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyJson } from './pretty-json.js';

describe('prettyJson', () => {
  it.each([
    ['{"a":[1,"[{,"]}', '{\n  "a": [\n    1,\n    "[{,"\n  ]\n}'],
    ['["\\"[",2]', '[\n  "\\"[",\n  2\n]'],
    ['{"a":', '{"a":'],
    ['', ''],
  ])('shows %j as %j', (text, shown) => {
    expect(prettyJson(text)).toBe(shown);
  });

  it.each([
    ['deep, with much in it', `${'['.repeat(2_500)}${'1,'.repeat(100_000)}1${']'.repeat(2_500)}`],
    ['large', `[${'"x",'.repeat(1_300_000)}1]`],
    ['as deep as it is long', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('leaves as it is what is %s', (_, text) => {
    expect(prettyJson(text)).toBe(text);
  });

  fuzz('prettyJson says the same', fc.json(), (text) => {
    expect(prettyJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
  });
});
