import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { oneLine } from './one-line.js';

describe('oneLine', () => {
  it.each([
    ['a\nb', 'a b'],
    [' a\r\n\t b ', 'a b'],
    ['a\u0085URL: x', 'a URL: x'],
    ['a\u2028b\u2029c', 'a b c'],
    ['a\u0000\u001b[2Jb', 'a [2Jb'],
    ['\ud800A', '\ufffdA'],
    ['1234567890abc', '1234567890'],
  ])('makes of %j %j', (text, line) => {
    expect(oneLine(text, 10)).toBe(line);
  });

  fuzz('oneLine gives one line that is no longer than it may be', anyText(), (text) => {
    const line = oneLine(text, 20);
    expect(line).not.toMatch(/[\n\r\p{Cc}\u2028\u2029]/u);
    expect(line.length).toBeLessThanOrEqual(20);
    expect(line.isWellFormed()).toBe(true);
  });
});
