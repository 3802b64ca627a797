import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { declaredRef, isSecretRef, isSecretRefPattern, secretRefMatches } from './secret-refs.js';

const ALPHABET = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@:+-');
const segment = fc.constantFrom(
  ...['a', 'b', 'A', 'aa', 'a.b', '...', '.a', 'x@y:1+z_-', '.', '..', '', '*', '**', 'a*', ' '],
  ...['a\n', '\n', '\0', '\\', '%2e%2e', 'é', 'ａ', '\u2024', '\ud800', '~', '$HOME'],
);
const ref = fc.oneof(
  fc.array(segment, { maxLength: 5 }).map((segments) => segments.join('/')),
  fc.string({ maxLength: 10 }),
  fc.integer({ min: 505, max: 520 }).map((length) => 'a'.repeat(length)),
);
const goodRef = fc
  .array(fc.constantFrom('a', 'b', 'aa', 'a.b', '...'), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'));

/** The definition of a ref, segment by segment. */
function isGood(text: string): boolean {
  const segments = text.split('/');
  return (
    text.length <= 512 &&
    segments.every((one) => one !== '' && one !== '.' && one !== '..') &&
    segments.every((one) => Array.from(one).every((character) => ALPHABET.has(character)))
  );
}

describe('secret refs, whatever the text', () => {
  fuzz('isSecretRef says what the definition says, segment by segment', ref, (text) => {
    expect(isSecretRef(text)).toBe(isGood(text));
    expect(isSecretRefPattern(text)).toBe(
      isGood(text) || (/.\/\*$/s.test(text) && isGood(text.slice(0, -2))),
    );
  });

  fuzz('isSecretRef never throws and refuses what is no string', fc.anything(), (value) => {
    const isText = typeof value === 'string';
    expect(Reflect.apply(isSecretRef, undefined, [value])).toBe(isText && isGood(value));
    Reflect.apply(isSecretRefPattern, undefined, [value]);
    expect(Reflect.apply(secretRefMatches, undefined, ['a/*', value])).toBe(
      isText && isGood(value) && value.startsWith('a/'),
    );
  });

  fuzz(
    'secretRefMatches says what comparing segments says',
    fc.tuple(fc.oneof(goodRef, ref), fc.boolean(), fc.oneof(goodRef, ref)),
    ([base, deeper, asked]) => {
      const pattern = deeper ? `${base}/*` : base;
      const wanted = pattern.split('/');
      const given = asked.split('/');
      const isPrefix = wanted.length > 1 && wanted.at(-1) === '*';
      if (isPrefix) wanted.pop();
      const isCovered =
        isGood(wanted.join('/')) &&
        isGood(asked) &&
        wanted.every((one, index) => one === given[index]) &&
        (isPrefix ? given.length > wanted.length : given.length === wanted.length);
      expect(secretRefMatches(pattern, asked)).toBe(isCovered);
    },
    { runs: { check: 100, long: 100_000 }, corpus: [['b/*', false, 'b/a.b']] },
  );

  fuzz('declaredRef is the ref of either form', goodRef, (text) => {
    expect(declaredRef(text)).toBe(text);
    expect(declaredRef({ ref: text, hosts: ['a.com'] })).toBe(text);
  });

  growsLinearly(
    'takes linear time',
    (size) => 'a/'.repeat(size / 2),
    (text) => [isSecretRef(text), secretRefMatches(`${text}/*`, text)],
  );
});
