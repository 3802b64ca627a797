import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { describe, expect, it } from 'vitest';
import { hasControls, showControls, withoutControls, withoutEscapes } from './controls.js';

const ESC = '\u001b';

it('every control character but tab, line feed and carriage return is taken out, found and shown', () => {
  for (let point = 0; point <= 0xff; point += 1) {
    const text = `a${String.fromCharCode(point)}b`;
    const isControl = (point < 0x20 || (point >= 0x7f && point <= 0x9f)) && !/[\t\n\r]/.test(text);
    expect([point, withoutControls(text), hasControls(text), showControls(text) !== text]).toEqual([
      point,
      isControl ? 'ab' : text,
      isControl,
      isControl,
    ]);
  }
  expect(showControls('\0\u007f\u0085')).toBe('␀␡\ufffd');
});

describe('withoutEscapes', () => {
  it.each([
    ['a colour', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['a colour of one unit', '\u009b31mred', 'red'],
    ['a title', `${ESC}]0;title\u0007text`, 'text'],
    ['a title that ends otherwise', `${ESC}]0;title${ESC}\\text`, 'text'],
    ['a title without an end', `${ESC}]0;FAIL\nnext`, ']0;FAIL\nnext'],
    ['a charset', `${ESC}(Bx`, 'x'],
    ['an escape alone', `a${ESC}`, 'a'],
  ])('takes out %s', (_, text, plain) => {
    expect(withoutEscapes(text)).toBe(plain);
  });

  for (const piece of [ESC, `${ESC}[`, `${ESC}]`, `${ESC}[1;`, `${ESC}]8;;x`]) {
    growsLinearly(
      `takes linear time for ${JSON.stringify(piece)}`,
      (size) => piece.repeat(size / piece.length),
      withoutEscapes,
    );
  }
});
