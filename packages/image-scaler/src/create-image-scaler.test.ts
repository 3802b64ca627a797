import { PhotonImage } from '@cf-wasm/photon/node';
import { readImage } from '@ethosagent/policy';
import { isLongRun, pngChunk, pngOf, SAMPLE_IMAGES, samplePng } from '@ethosagent/test-support';
import type { ImageFile } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createImageScaler } from './create-image-scaler.js';
import { plainPng } from './plain-png.js';
import { scaleNow } from './scale-now.js';

const fileOf = (bytes: Uint8Array): ImageFile => {
  const read = readImage(bytes);
  if (read?.ok !== true) return expect.fail('no image');
  return { mediaType: read.mediaType, width: read.width, height: read.height, bytes };
};
const to = (maxSidePixels: number, maxBytes = 3_000_000) => ({ maxSidePixels, maxBytes });
const sizeOf = (bytes: Uint8Array | undefined) => {
  const read = bytes && readImage(bytes);
  return read?.ok === true ? `${read.mediaType} ${read.width} × ${read.height}` : undefined;
};
/** One letter for each corner, from the top left, line by line. `.` is black. */
const cornersOf = (bytes: Uint8Array) => {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [width, pixels] = [image.get_width(), image.get_raw_pixels()];
  const at = (x: number, y: number) =>
    ['R', 'G', 'B'].find((_, colour) => (pixels[(y * width + x) * 4 + colour] ?? 0) > 128) ?? '.';
  const [right, bottom] = [width - 2, image.get_height() - 2];
  return [at(1, 1), at(right, 1), at(1, bottom), at(right, bottom)].join('');
};
/** A JPEG of 32 by 16 with the corners `RGB.`, as a camera writes it in another orientation. */
const held = (orientation: number) => {
  const pixels = new Uint8Array(32 * 16 * 4);
  for (let at = 0; at < 32 * 16; at++) {
    const corner = Math.floor((at % 32) / 16) + 2 * Math.floor(at / 256);
    pixels.set([0, 1, 2].map((colour) => (colour === corner ? 255 : 0)).concat(255), at * 4);
  }
  const jpeg = new PhotonImage(pixels, 32, 16).get_bytes_jpeg(95);
  const exif = Buffer.from(
    'ffe100224578696600004d4d002a00000008000101120003000000010000000000000000',
    'hex',
  );
  exif.writeUInt16BE(orientation, 28);
  return Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
};

const lying = () => fileOf(pngOf(1_000, 1_000, Buffer.from('no data of a PNG')));

describe('createImageScaler', () => {
  it('makes an image smaller in a thread', async () => {
    const made = await createImageScaler().scale(fileOf(samplePng(400, 100)), to(200));
    expect(sizeOf(made)).toBe('image/png 200 × 50');
  });

  it.runIf(isLongRun())('gives nothing where the thread ends with an error', async () => {
    expect(await createImageScaler().scale(lying(), to(200))).toBeUndefined();
  });

  it('unpacks nothing that says too much, or is none', async () => {
    const scaler = createImageScaler();
    const bomb = pngOf(60_000, 60_000, Buffer.alloc(8));
    for (const bytes of [bomb, Buffer.from('<svg/>')]) {
      const file = { mediaType: 'image/png' as const, width: 3, height: 2, bytes };
      expect(await scaler.scale(file, to(200))).toBeUndefined();
    }
  });

  it('ends with its call, and gives up after its time', async () => {
    const file = fileOf(samplePng(400, 100));
    const signal = AbortSignal.abort(new Error('over'));
    await expect(createImageScaler().scale(file, { ...to(9), signal })).rejects.toThrow('over');
    const later = new AbortController();
    const running = createImageScaler().scale(file, { ...to(9), signal: later.signal });
    later.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
    expect(await createImageScaler({ timeoutMs: 1 }).scale(file, to(9))).toBeUndefined();
  });
});

describe('scaleNow', () => {
  const scaled = (bytes: Uint8Array, side: number, maxBytes?: number) =>
    scaleNow({ ...fileOf(bytes), ...to(side, maxBytes) });

  it.each(Object.entries(SAMPLE_IMAGES))('reads a %s', (_name, { bytes }) => {
    const made = sizeOf(scaled(bytes, 100)) ?? '';
    expect(made).toContain('3 × 2');
  });

  it('takes less quality, then fewer pixels, until it fits', () => {
    const noise = samplePng(200, 200, { isNoise: true });
    expect(sizeOf(scaled(noise, 200))).toBe('image/png 200 × 200');
    expect(sizeOf(scaled(noise, 200, 45_000))).toBe('image/jpeg 200 × 200');
    expect(sizeOf(scaled(noise, 200, 15_000))).toMatch(/^image\/jpeg 1\d\d × /);
    expect(scaled(noise, 200, 100)).toBeUndefined();
  });

  it.each([
    [1, '32 × 16', 'RGB.'],
    [2, '32 × 16', 'GR.B'],
    [3, '32 × 16', '.BGR'],
    [4, '32 × 16', 'B.RG'],
    [5, '16 × 32', 'RBG.'],
    [6, '16 × 32', 'BR.G'],
    [7, '16 × 32', '.GBR'],
    [8, '16 × 32', 'G.RB'],
  ])('turns a JPEG as it was held: %i', (orientation, size, corners) => {
    const made = scaled(held(orientation), 64) ?? expect.fail('no image');
    expect(sizeOf(made)).toBe(`image/jpeg ${size}`);
    expect(cornersOf(made)).toBe(corners);
  });

  it.each(['iCCP', 'acTL', 'fcTL', 'pHYs', 'zTXt'])('unpacks no %s of a PNG', (name) => {
    const plain = samplePng(3, 2);
    const odd = Buffer.concat([
      plain.subarray(0, 33),
      pngChunk('acTL', Buffer.from('0000000100000000', 'hex')),
      pngChunk(name, Buffer.alloc(26, 9)),
      plain.subarray(33),
    ]);
    expect(plainPng(odd)).toEqual(plain);
    expect(sizeOf(scaled(odd, 100))).toBe('image/png 3 × 2');
  });

  it('throws what can not be unpacked, so that its thread ends', () => {
    expect(() => scaleNow({ ...lying(), ...to(64) })).toThrow();
  });

  it('keeps the shape of what is long and thin', () => {
    expect(sizeOf(scaled(samplePng(2_000, 2), 100))).toBe('image/png 100 × 1');
  });
});
