import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson, visible } from './visible.js';

describe('exactJson', () => {
  it('can be read again, and holds no character that nobody sees', () => {
    fc.assert(
      fc.property(fc.jsonValue(), anyText(), (value, text) => {
        const json = exactJson([value, text]);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify([value, text])));
        expect(json).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]|\p{DI}/u);
      }),
    );
  });
});

describe('visible', () => {
  it.each([
    ['a\u202Eb', 'a<U+202E>b'],
    ['a\u200Bb', 'a<U+200B>b'],
    ['\u001B]0;hidden\u0007', '␛]0;hidden␇'],
    ['\uD800', '\uFFFD'],
    ['👩\u200D🚀 é', '👩\u200D🚀 é'],
  ])('shows %j as %j', (text, expected) => {
    expect(visible(text)).toBe(expected);
  });
});
