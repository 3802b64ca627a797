import { expect, it } from 'vitest';
import { byteOrderMarkOf, isMostlyUtf8, readByteOrderMark } from './byte-order-mark.js';

it.each([
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
])('the mark of %s is read and given', (encoding, mark) => {
  expect(readByteOrderMark(Uint8Array.from([...mark, 0x41, 0]))?.encoding).toBe(encoding);
  expect(byteOrderMarkOf(encoding)).toEqual(mark);
});

it('other bytes have no mark, and other encodings none', () => {
  expect(readByteOrderMark(Uint8Array.from([0x41]))).toBeUndefined();
  expect(byteOrderMarkOf('windows-1252')).toEqual([]);
});

it.each([
  ['é'.repeat(9), true],
  [`${'é'.repeat(9)}\ufffd`, true],
  ['\ufffdcole', false],
  ['plain', false],
])('isMostlyUtf8 of %j is %j', (decoded, is) => {
  expect(isMostlyUtf8(decoded)).toBe(is);
});
