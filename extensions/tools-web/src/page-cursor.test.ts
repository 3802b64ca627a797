import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPage } from './cut-page.js';
import { createCursor, parseCursor, placeOfCursor } from './page-cursor.js';

const URL_OF_PAGE = 'https://example.com/';

describe('cutPage', () => {
  it.each([
    ['after a paragraph', 'one two\n\nthree\nfour. five', 20, 'one two\n\nthree\n'],
    ['after a line', 'one two three\nfour five six', 20, 'one two three\n'],
    ['after a sentence', 'one two three. four five six', 20, 'one two three. '],
    ['after a word', 'one two three four five', 15, 'one two three '],
    ['anywhere', 'x'.repeat(30), 10, 'x'.repeat(10)],
    ['not within a character', `${'x'.repeat(9)}😀xx`, 10, 'x'.repeat(9)],
    ['nowhere', 'short', 10, 'short'],
  ])('cuts %s', (_, text, maxChars, page) => {
    expect(text.slice(0, cutPage(text, 0, maxChars).end)).toBe(page);
  });

  fuzz(
    'makes pages that add up to the text',
    fc.tuple(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 2, max: 50 })),
    ([text, maxChars]) => {
      const pages: string[] = [];
      for (let at = 0; at < text.length; ) {
        const { end } = cutPage(text, at, maxChars);
        expect(end).toBeGreaterThan(at);
        expect(end - at).toBeLessThanOrEqual(maxChars);
        const page = text.slice(at, end);
        expect(page.isWellFormed()).toBe(true);
        pages.push(page);
        at = end;
      }
      expect(pages.join('')).toBe(text);
    },
  );
});

describe('a cursor', () => {
  const text = 'a page of text';
  const cursor = createCursor({ url: `${URL_OF_PAGE}#part`, raw: false, text }, 6);
  it.each([
    ['the same page', { text }, { is: 'found', offset: 6, hasChangedSince: false }],
    [
      'a page that goes on otherwise',
      { text: 'a page for text' },
      { is: 'found', offset: 6, hasChangedSince: true },
    ],
    ['a page that begins otherwise', { text: 'a leaf of text' }, { is: 'of another text' }],
    ['a page that is shorter', { text: 'a page' }, { is: 'of another text' }],
    ['another URL', { url: `${URL_OF_PAGE}x` }, { is: 'of another URL' }],
    ['the source', { raw: true }, { is: 'of another URL' }],
  ])('for %s', (_, change, place) => {
    expect(placeOfCursor(cursor, { url: URL_OF_PAGE, raw: false, text, ...change })).toEqual(place);
  });

  fuzz(
    'that nobody gave leads nowhere',
    fc.oneof(
      fc.string({ maxLength: 100 }),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
      fc
        .tuple(fc.constant(1), fc.anything(), fc.string(), fc.string(), fc.string())
        .map((parts) => Buffer.from(JSON.stringify(parts) ?? '').toString('base64url')),
    ),
    (forged) => {
      const place = placeOfCursor(forged, { url: URL_OF_PAGE, raw: false, text });
      expect(place.is).not.toBe('found');
      parseCursor(forged);
    },
    { corpus: ['', '\0', 'W10', 'bnVsbA', 'x'.repeat(10_000)] },
  );
});
