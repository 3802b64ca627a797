import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode-body.js';
import { kindOfBody, parseMediaType } from './media-type.js';
import { isoDate } from './page-facts.js';
import { plainText } from './plain-text.js';
import { retryAfterSeconds } from './retry-after.js';

describe('parseMediaType', () => {
  it.each([
    ['text/html', 'text/html', undefined],
    ['TEXT/HTML; Charset="UTF-8"', 'text/html', 'utf-8'],
    ['text/html; a=b;charset=latin1', 'text/html', 'latin1'],
    ['text/html; charset=', 'text/html', undefined],
    ['nonsense', '', undefined],
    ['', '', undefined],
    [null, '', undefined],
  ])('reads %j', (header, essence, charset) => {
    expect(parseMediaType(header)).toEqual({ essence, charset });
  });
});

describe('kindOfBody', () => {
  it.each([
    ['<!doctype html>', '', 'html'],
    [' \n<!-- x --><HTML>', 'text/plain', 'html'],
    ['<!-- '.repeat(1_000), 'text/plain', 'text'],
    ['a < b', 'text/plain', 'text'],
    ['%PDF-1.7', 'text/html', 'pdf'],
    ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'text/html', 'image'],
    ['GIF89a\0\0', '', 'image'],
    ['plain', 'image/png', 'text'],
    ['a\0b', '', 'binary'],
    ['a\0b', 'text/html', 'html'],
    ['{}', 'application/vnd.api+json', 'json'],
    ['<a/>', 'application/atom+xml', 'xml'],
    ['', 'application/zip', 'text'],
  ])('says of %j as %j that it is %s', async (body, essence, kind) => {
    expect((await kindOfBody(Buffer.from(body, 'latin1'), essence)).kind).toBe(kind);
  });
});

describe('decodeBody', () => {
  it.each([
    ['latin1', 'caf\xe9', 'iso-8859-1', false, 'café', 'windows-1252'],
    ['a charset that there is not', 'caf\xc3\xa9', 'x-nope', false, 'café', 'utf-8'],
    ['UTF-7, which nobody writes', '+ADw-b+AD4-', 'utf-7', false, '+ADw-b+AD4-', 'utf-8'],
    [
      'broken UTF-8',
      `${'caf\xc3\xa9 '.repeat(5)}\xff`,
      undefined,
      false,
      `${'café '.repeat(5)}\ufffd`,
      'utf-8',
    ],
    [
      'no charset, Russian',
      Buffer.from(
        'cff0e8e2e5f22c20eae0ea20e4e5ebe03f20dfa0e6e8e2f320e220cceef1eae2e520e820f0e0e1eef2e0fe',
        'hex',
      ).toString('latin1'),
      undefined,
      false,
      'Привет',
      'windows-1251',
    ],
    [
      'a page that says it',
      '<meta http-equiv=Content-Type content="text/html; charset=koi8-r">\xf0',
      undefined,
      true,
      '<meta http-equiv=Content-Type content="text/html; charset=koi8-r">П',
      'koi8-r',
    ],
  ])('reads %s', async (_, body, header, isMarkup, text, charset) => {
    const decoded = await decodeBody(Buffer.from(body, 'latin1'), header, isMarkup);
    expect(decoded.text.slice(0, text.length)).toBe(text);
    expect(decoded.charset).toBe(charset);
  });

  fuzz(
    'gives well-formed text for any bytes and label',
    fc.tuple(
      fc.uint8Array({ maxLength: 200 }),
      fc.option(
        fc.oneof(
          fc.string({ maxLength: 10 }),
          fc.constantFrom(
            'utf-16',
            'utf-32',
            'gbk',
            'shift_jis',
            'hex',
            'base64',
            'ucs2',
            'binary',
            '__proto__',
            'constructor',
          ),
        ),
        { nil: undefined },
      ),
      fc.boolean(),
    ),
    async ([bytes, header, isMarkup]) => {
      const { text } = await decodeBody(bytes, header, isMarkup);
      expect(text.isWellFormed()).toBe(true);
    },
  );
});

describe('isoDate', () => {
  it.each([
    ['2026-03-04', '2026-03-04'],
    ['2026-03-04T05:06:07', '2026-03-04T05:06:07Z'],
    ['2026-03-04 05:06', '2026-03-04T05:06:00Z'],
    ['2026-03-04T05:06:07.500+01:00', '2026-03-04T04:06:07.500Z'],
    ['Wed, 04 Mar 2026 05:06:07 GMT', '2026-03-04T05:06:07Z'],
    ['March 4, 2026', '2026-03-04T00:00:00Z'],
    ['1772600767', undefined],
    ['yesterday', undefined],
    ['2026-02-31', undefined],
    ['x'.repeat(10_000), undefined],
    ['', undefined],
    [undefined, undefined],
  ])('makes of %j %j', (text, iso) => {
    expect(isoDate(text)).toBe(iso);
  });
});

describe('plainText', () => {
  it.each([
    ['a <strong>b</strong>c', 'a bc'],
    ['a<br>b', 'a b'],
    ['a &lt;b&gt; &amp;amp;', 'a <b> &amp;'],
    ['a<script>b</script>', 'a'],
    ['  a \n b ', 'a b'],
    ['x'.repeat(30), `${'x'.repeat(19)}…`],
    [`${'x'.repeat(18)}😀😀`, `${'x'.repeat(18)}\ufffd…`],
  ])('makes of %j %j', async (html, text) => {
    expect(await plainText(html, 20)).toBe(text);
  });
});

describe('retryAfterSeconds', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    ['120', 120],
    [' 0 ', 0],
    ['999999999', 31_622_400],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1e9', undefined],
    ['', undefined],
    [null, undefined],
  ])('reads %j as %j', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });
});
