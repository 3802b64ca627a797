import { imagesOf } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { takesImages } from './images.js';

const PNG = 'iVBORw0KGgoA';
const png = (data: string) => ({ mediaType: 'image/png', data: PNG + data });
const kind = (mediaType: string, begin: string) => ({
  mediaType,
  data: Buffer.from(`${begin}${'x'.repeat(12)}`, 'latin1').toString('base64'),
});

describe('imagesOf', () => {
  it.each<[string, unknown, number]>([
    ['an image', [png('')], 1],
    ['more than four', [1, 2, 3, 4, 5].map(() => png('aaaa')), 4],
    ['one of 4,000,012 characters', [png('x'.repeat(4_000_000)), png('')], 1],
    ['two of 3,999,952 characters', [png('x'.repeat(3_999_940)), png('x'.repeat(3_999_940))], 1],
    ['what is no image', [{ mediaType: 'text/html', data: 'x' }], 0],
    ['an SVG', [kind('image/svg+xml', '<svg xmlns=')], 0],
    ['a BMP', [kind('image/bmp', 'BM')], 0],
    ['what only claims to be a PNG', [kind('image/png', '<html>')], 0],
    ['nothing', [{ mediaType: 'image/png', data: '' }], 0],
    ['what is no base64', [png('not base64 <>')], 0],
    ['base64 that is cut off', [png('aaa')], 0],
    ['base64 with more behind its end', [png('aa==aaaa')], 0],
    ['what is no list', 'aGk=', 0],
    ['what is no data', [{ mediaType: 'image/png', data: 1 }], 0],
  ])('of %s', (_name, images, kept) => {
    expect(imagesOf({ ok: true, value: '', structured: { images } })).toHaveLength(kept);
  });

  it.each([
    ['image/png', '\x89PNG\r\n\x1a\n'],
    ['image/jpeg', '\xff\xd8\xff\xe0'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF1234WEBP'],
  ])('have the type that they are: %s', (mediaType, begin) => {
    const structured = { images: [kind('image/other', begin)] };
    expect(imagesOf({ ok: true, value: '', structured })).toMatchObject([{ mediaType }]);
  });

  it('are none of a failure, or of a result without any', () => {
    expect(imagesOf({ ok: true, value: '' })).toEqual([]);
    expect(imagesOf({ ok: false, code: 'execution_failed', error: '' })).toEqual([]);
  });
});

describe('takesImages', () => {
  it.each([
    [{ provider: 'anthropic.messages' }, true],
    [{ provider: 'openai.responses' }, true],
    [{ provider: 'google.generative-ai' }, true],
    [{ provider: 'openai.chat' }, false],
    [{ provider: 'my-server.chat' }, false],
    ['openai/gpt-5', false],
    [undefined, false],
  ])('%j: %s', (model, takes) => {
    expect(takesImages(model)).toBe(takes);
  });
});
