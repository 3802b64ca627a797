import { describe, expect, it } from 'vitest';
import { imagesOf, takesImages } from './images.js';

const png = (data: string) => ({ mediaType: 'image/png', data });

describe('imagesOf', () => {
  it.each<[string, unknown, number]>([
    ['an image', [png('aGk=')], 1],
    ['more than four', [1, 2, 3, 4, 5].map((n) => png(`${n}`)), 4],
    ['one of 4,000,001 characters', [png('x'.repeat(4_000_001)), png('y')], 1],
    ['two of 4,000,000 characters', [png('x'.repeat(4_000_000)), png('x'.repeat(4_000_000))], 1],
    ['what is no image', [{ mediaType: 'text/html', data: 'x' }], 0],
    ['what is no list', 'aGk=', 0],
    ['what is no data', [{ mediaType: 'image/png', data: 1 }], 0],
  ])('of %s', (_name, images, kept) => {
    expect(imagesOf({ ok: true, value: '', structured: { images } })).toHaveLength(kept);
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
