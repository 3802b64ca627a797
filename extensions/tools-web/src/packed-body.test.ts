import { describe, expect, it } from 'vitest';
import { codingLeft } from './packed-body.js';

/** `<p>hello</p>`, packed by `zstd`. */
const ZSTD = Buffer.from('KLUv/QRYaQAAPHA+aGVsbG88L3A+CkTGPNg=', 'base64');
const TEXT = Buffer.from('<p>hello</p>');

describe('codingLeft', () => {
  it.each<[encoding: string, body: Uint8Array, left: string | undefined]>([
    ['zstd', ZSTD, 'zstd'],
    ['gzip, ZStd', ZSTD, 'zstd'],
    ['zstd, utf-8', ZSTD, 'zstd'],
    // As the newer versions of Node give it.
    ['zstd', TEXT, undefined],
    ['br , gzip', TEXT, undefined],
    ['none, dcb', TEXT, 'dcb'],
    ['dcb', Buffer.alloc(0), undefined],
    ['rot13', TEXT, undefined],
  ])('of a body in "%s"', (encoding, bytes, left) => {
    const headers = new Headers({ 'content-encoding': encoding });
    expect(codingLeft({ status: 200, headers, bytes })).toBe(left);
  });
});
