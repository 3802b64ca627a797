import { describe, expect, it } from 'vitest';
import { ContentCache, contentKey } from './content-cache.js';
import type { Download } from './download.js';
import type { PageContent } from './page-content.js';

const content = (text: string): PageContent => ({
  kind: 'text',
  mediaType: 'text/plain',
  notes: [],
  text,
});
const got = (change: Partial<Download> = {}): Download => ({
  url: 'https://example.com/',
  status: 200,
  headers: new Headers({ 'content-type': 'text/html' }),
  bytes: new Uint8Array([1, 2, 3]),
  redirects: [],
  isPartial: false,
  cache: 'miss',
  ...change,
});

describe('ContentCache', () => {
  it('keeps what was used last, up to its bounds', () => {
    const cache = new ContentCache();
    const names = Array.from({ length: 40 }, (_, at) => `${at}`);
    for (const name of names) {
      cache.set(name, content(name));
      cache.get('0');
    }
    expect(names.filter((name) => cache.get(name) !== undefined)).toEqual(['0', ...names.slice(9)]);
    cache.set('large', content('x'.repeat(16_000_000)));
    expect(names.filter((name) => cache.get(name) !== undefined)).toEqual([]);
    expect(cache.get('large')?.text).toHaveLength(16_000_000);
    cache.set('too large', content('x'.repeat(16_000_001)));
    expect(cache.get('too large')).toBeUndefined();
  });

  it.each<[string, Partial<Download>]>([
    ['other bytes', { bytes: new Uint8Array([1, 2, 4]) }],
    ['another URL, to which its links are relative', { url: 'https://example.com/x' }],
    ['another type', { headers: new Headers({ 'content-type': 'text/plain' }) }],
    ['a beginning alone', { isPartial: true }],
  ])('takes %s for something else', (_, change) => {
    expect(contentKey(got(change), false)).not.toBe(contentKey(got(), false));
  });

  it('takes the source for something else, and the same for the same', () => {
    expect(contentKey(got(), true)).not.toBe(contentKey(got(), false));
    expect(contentKey(got({ cache: 'fresh' }), false)).toBe(contentKey(got(), false));
  });
});
