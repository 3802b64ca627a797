import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect } from 'vitest';
import { decodeText, encodeText } from './text-encoding.js';

const mark = fc.constantFrom(
  [],
  [],
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
  [0xff, 0xfe, 0, 0],
  [0, 0, 0xfe, 0xff],
);
const chunk = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => [...bytes]),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => [...Buffer.from(text)]),
  fc.string({ maxLength: 20 }).map((text) => [...Buffer.from(text, 'utf16le')]),
  fc.constantFrom(
    [0xed, 0xa0, 0x80],
    [0xc0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe9],
    [0x80],
    [0],
    [0x0d, 0x0a],
  ),
);
const bytes = fc
  .tuple(mark, fc.array(chunk, { maxLength: 3 }))
  .map(([mark, chunks]) => new Uint8Array([...mark, ...chunks.flat()]));

describe('decodeText, whatever the bytes', () => {
  fuzz(
    'gives a text that turns back into the same bytes, unless it says that it does not',
    bytes,
    async (bytes) => {
      const decoded = await decodeText(bytes);
      if (decoded === undefined || decoded.lossy) return;
      const encoded = await encodeText(decoded.text, decoded);
      expect(Buffer.from(encoded ?? [])).toEqual(Buffer.from(bytes));
    },
    { runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'takes for UTF-8 exactly what is, where there is no mark and no NUL',
    bytes,
    async (bytes) => {
      const isMarked = [0xef, 0xff, 0xfe].includes(bytes[0] ?? 0) && bytes.length > 1;
      if (isMarked || bytes.includes(0)) return;
      let text: string | undefined;
      try {
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        // Not UTF-8.
      }
      const decoded = await decodeText(bytes);
      if (text !== undefined)
        expect(decoded).toEqual({ text, encoding: 'utf-8', bom: false, lossy: false });
      else expect(decoded?.encoding === 'utf-8' && !decoded.lossy).toBe(false);
    },
  );

  fuzz(
    'gives back any well-formed text without NUL',
    fc.tuple(
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.boolean(),
    ),
    async ([text, bom]) => {
      const bytes = await encodeText(text, { encoding: 'utf-8', bom });
      expect(await decodeText(bytes ?? new Uint8Array())).toMatchObject(
        bom || !text.startsWith('\ufeff') ? { text, bom } : {},
      );
    },
  );

  fuzz(
    'gives back a text with a mark in each encoding that has one',
    fc.tuple(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'),
    ),
    async ([text, encoding]) => {
      // In UTF-16LE the mark and a NUL are the mark of UTF-32LE.
      fc.pre(text.isWellFormed() && !(encoding === 'utf-16le' && text.startsWith('\0')));
      const bytes = await encodeText(text, { encoding, bom: true });
      expect(await decodeText(bytes ?? new Uint8Array())).toEqual({
        text,
        encoding,
        bom: true,
        lossy: false,
      });
    },
  );

  const HOSTILE: Record<string, (size: number) => Uint8Array> = {
    'bytes that start characters': (size) => new Uint8Array(size).fill(0xe9),
    'bytes that go on with characters': (size) => new Uint8Array(size).fill(0x80),
    zeros: (size) => new Uint8Array(size),
    'zeros in every second byte': (size) => new Uint8Array(size).map((_, at) => (at % 2) * 0x41),
    'Japanese in Shift JIS': (size) => iconv.encode('こんにちは'.repeat(size / 10), 'shift_jis'),
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (bytes) => decodeText(bytes));
  }
});

describe('encodeText, whatever the text', () => {
  fuzz(
    'gives bytes that mean the text, or none',
    fc.tuple(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom('a', 'é', '漢', '\ud800', '\udc00', '\ufeff') }),
      ),
      fc.constantFrom(
        'utf-8',
        'utf-16le',
        'utf-16be',
        'utf-32le',
        'windows-1252',
        'windows-1251',
        'shift_jis',
        'gb18030',
        'koi8-r',
        'euc-kr',
      ),
    ),
    async ([text, encoding]) => {
      const encoded = await encodeText(text, { encoding, bom: false });
      if (encoded === undefined)
        return expect(encoding === 'utf-8' && text.isWellFormed()).toBe(false);
      expect(iconv.decode(Buffer.from(encoded), encoding, { stripBOM: false })).toBe(text);
    },
  );
});
