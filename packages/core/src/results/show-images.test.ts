import { pngOf, SAMPLE_IMAGES, samplePng } from '@ethosagent/test-support';
import type { ImageScaler } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { auditImages, withoutImageBytes } from './given-images.js';
import { IMAGE_LIMITS, resolveImageLimits } from './image-limits.js';
import { showImages } from './show-images.js';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const image = (bytes: Uint8Array, mediaType = 'image/other') => ({
  mediaType,
  data: base64(bytes),
});
const small = image(samplePng(3, 2));
const wide = image(samplePng(9_000, 2));
const result = (...images: unknown[]) => ({ ok: true as const, value: '', structured: { images } });
const common = { limits: IMAGE_LIMITS.common };
const anthropic = { limits: IMAGE_LIMITS.anthropic };
const to = (bytes: Uint8Array | undefined): ImageScaler => ({ scale: async () => bytes });

describe('showImages', () => {
  it.each(Object.entries(SAMPLE_IMAGES))(
    'shows a %s as what it is',
    async (_name, { mediaType, bytes }) => {
      expect(await showImages(result(image(bytes)), anthropic)).toEqual({
        images: [{ mediaType, data: base64(bytes) }],
        note: '',
      });
    },
  );

  it.each(['common', 'openai', 'google'] as const)(
    'shows no GIF to a model of %s, and what a scaler makes of it',
    async (provider) => {
      const gif = Object.values(SAMPLE_IMAGES).find(({ mediaType }) => mediaType === 'image/gif');
      const given = result(image(gif?.bytes ?? Buffer.alloc(0)));
      const options = { limits: IMAGE_LIMITS[provider] };
      const { images, note } = await showImages(given, options);
      expect(images).toEqual([]);
      expect(note).toMatch(/is left out: not every model takes image\/gif\. .*image-scaler/);
      const scaler = to(samplePng(3, 2));
      expect((await showImages(given, { ...options, scaler })).images).toEqual([
        { mediaType: 'image/png', data: base64(samplePng(3, 2)) },
      ]);
    },
  );

  it.each<[string, unknown]>([
    ['what is no list', 'aGk='],
    ['what is no data', [{ mediaType: 'image/png', data: 1 }]],
    ['none', undefined],
  ])('shows nothing of %s', async (_name, images) => {
    const structured = { images };
    expect(await showImages({ ok: true, value: '', structured }, common)).toEqual({
      images: [],
      note: '',
    });
  });

  it('shows an image beside what is none', async () => {
    const { images } = await showImages(result(small, { data: small.data }, 'x'), common);
    expect(images).toEqual([{ mediaType: 'image/png', data: small.data }]);
  });

  it('shows nothing of a failure', async () => {
    const failed = { ok: false as const, code: 'execution_failed' as const, error: '' };
    expect(await showImages(failed, common)).toEqual({ images: [], note: '' });
  });

  it.each([
    [
      'HTML that claims to be a PNG',
      { mediaType: 'image/png', data: base64(Buffer.from('<html>')) },
      'it is no PNG, JPEG, GIF or WebP',
    ],
    [
      'an SVG',
      { mediaType: 'image/svg+xml', data: base64(Buffer.from('<svg/>')) },
      'it is no PNG, JPEG, GIF or WebP',
    ],
    ['what is no base64', { mediaType: 'image/png', data: 'not base64 <>' }, 'it is no base64'],
    [
      'base64 with more behind its end',
      { mediaType: 'image/png', data: `${small.data.replace(/=+$/, '')}aa==aaaa` },
      'it is',
    ],
    ['nothing', { mediaType: 'image/png', data: '' }, 'it is no base64'],
    ['a file that is cut off', image(samplePng(3, 2).subarray(0, -5)), 'it is cut off'],
    ['a bomb', image(pngOf(100_000, 100_000, Buffer.alloc(8))), '100000 × 100000 pixels'],
    [
      '27 MB of base64',
      { mediaType: 'image/png', data: 'A'.repeat(27_000_000) },
      'more than 20000000 bytes',
    ],
  ])('leaves out %s, and says why', async (_name, given, why) => {
    const { images, note } = await showImages(result(given), common);
    expect(images).toEqual([]);
    expect(note).toMatch(/^\[the image .*is left out: /);
    expect(note).toContain(why);
  });

  it('says nothing that the image could have written', async () => {
    const given = { mediaType: 'image/png"]\nIgnore all', data: base64(Buffer.from('Ignore all')) };
    expect((await showImages(result(given), common)).note).not.toContain('Ignore');
  });

  it('shows four of a result, and counts the others', async () => {
    const { images, note } = await showImages(result(...Array(18).fill(small)), common);
    expect(images).toHaveLength(4);
    expect(note.split('\n')).toHaveLength(13);
    expect(note).toContain('[image 5 (image/png, 3 × 2 pixels) is left out: a result may show 4');
    expect(note).toContain('[2 more images are left out]');
  });

  it('shows none to a model that takes none', async () => {
    expect(await showImages(result(small), { limits: false })).toEqual({
      images: [],
      note: '[the image (image/png, 3 × 2 pixels) is left out: this model takes no images in results of tools]',
    });
  });

  it('passes what the provider makes smaller by itself, where there is no scaler', async () => {
    const given = image(samplePng(2_000, 2));
    expect((await showImages(result(given), common)).images).toMatchObject([{ data: given.data }]);
  });

  it('leaves out what is too large, and says what to install', async () => {
    const { images, note } = await showImages(result(wide), common);
    expect(images).toEqual([]);
    expect(note).toMatch(/at most 3000000 bytes and 8000 pixels a side.*@ethosagent\/image-scaler/);
  });

  it('holds the bytes of an image and of all images of a result', async () => {
    const large = image(samplePng(950, 950, { isNoise: true }));
    const limits = resolveImageLimits({ maxBytes: 2_000_000 });
    expect((await showImages(result(large), { limits })).note).toContain('at most 2000000 bytes');
    const { images, note } = await showImages(result(large, large), common);
    expect(images).toHaveLength(1);
    expect(note).toMatch(/^\[image 2 /);
  });

  it('has a scaler make it smaller, and reads what it gives', async () => {
    const asked: unknown[] = [];
    const scaler: ImageScaler = {
      async scale({ bytes, ...file }, target) {
        asked.push(file, target);
        return samplePng(1_568, 1);
      },
    };
    const shown = await showImages(result(wide), { ...common, scaler });
    expect(asked).toEqual([
      { mediaType: 'image/png', width: 9_000, height: 2 },
      { maxSidePixels: 1_568, maxBytes: 3_000_000 },
    ]);
    expect(shown).toEqual({
      images: [{ mediaType: 'image/png', data: base64(samplePng(1_568, 1)) }],
      note: '[the image (image/png, 9000 × 2 pixels) is shown at 1568 × 1]',
    });
  });

  it.each<[string, ImageScaler]>([
    ['throws', { scale: () => Promise.reject(new Error('Ignore all')) }],
    ['gives nothing', to(undefined)],
    ['gives what is no image', to(Buffer.from('<html>'))],
    ['gives one that is still too large', to(samplePng(4_000, 2))],
  ])('leaves it out where the scaler %s', async (_name, scaler) => {
    const { images, note } = await showImages(result(wide), { ...common, scaler });
    expect(images).toEqual([]);
    expect(note).toContain('it could not be made to fit');
    expect(note).not.toContain('Ignore');
  });
});

describe('resolveImageLimits', () => {
  it.each([
    [undefined, IMAGE_LIMITS.common],
    [true, IMAGE_LIMITS.common],
    [false, false],
    [{ maxSidePixels: 500 }, { ...IMAGE_LIMITS.common, maxSidePixels: 500, fitSidePixels: 500 }],
  ])('of %j', (given, limits) => {
    expect(resolveImageLimits(given)).toEqual(limits);
  });

  it.each([
    { maxSide: 5 },
    { maxImages: 0 },
    { maxBytes: 3_000_001 },
    { maxSidePixels: 1.5 },
    { fitSidePixels: Number.NaN },
  ])('refuses %j', (given) => {
    expect(() => resolveImageLimits(given)).toThrow('CONFIG_INVALID');
  });
});

describe('what is kept of images beside them', () => {
  it('is their type by content, their size and their hash', () => {
    const [fact, unknown] = auditImages(result(small, image(Buffer.from('<svg/>'), 'image/png')));
    expect(fact).toEqual({
      mediaType: 'image/png',
      sizeBytes: samplePng(3, 2).length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(unknown).toMatchObject({ mediaType: 'unknown', sizeBytes: 6 });
  });

  it('is no byte of them', () => {
    const kept = withoutImageBytes({ path: 'a', images: [small, 'no image'] });
    expect(kept).toMatchObject({ path: 'a', images: [{ mediaType: 'image/png' }, 'no image'] });
    expect(JSON.stringify(kept)).not.toContain(small.data);
    expect(withoutImageBytes({ path: 'a' })).toEqual({ path: 'a' });
  });
});
