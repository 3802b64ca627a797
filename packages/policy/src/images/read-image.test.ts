import { pngOf, SAMPLE_IMAGES } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_IMAGE_BYTES, readImage } from './read-image.js';

const bytesOf = (name: string) => {
  const { bytes } = SAMPLE_IMAGES[name] ?? expect.fail(`no sample ${name}`);
  return bytes;
};
/** The sample with other bytes at one place. */
const changed = (name: string, at: number, ...bytes: number[]) => {
  const copy = Buffer.from(bytesOf(name));
  copy.set(bytes, at);
  return copy;
};
const problemOf = (bytes: Uint8Array) => {
  const read = readImage(bytes);
  return read?.ok === false ? [read.cause, read.problem] : read;
};

describe('readImage', () => {
  it.each(Object.entries(SAMPLE_IMAGES))('reads a %s', (_name, { mediaType, bytes }) => {
    expect(readImage(bytes)).toEqual({ ok: true, mediaType, width: 3, height: 2 });
  });

  it.each(Object.entries(SAMPLE_IMAGES))(
    'refuses a %s that is cut off, anywhere',
    (_name, { bytes }) => {
      for (let length = 12; length < bytes.length; length++) {
        expect(readImage(bytes.subarray(0, length)), `${length} bytes`).toMatchObject({
          ok: false,
          cause: 'IMAGE_INVALID',
        });
      }
    },
  );

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['HTML', '<!doctype html><script>1</script>'],
    ['a BMP', 'BM\x36\x00\x00\x00'],
    ['a PDF', '%PDF-1.7'],
    ['a RIFF of sound', 'RIFF\x24\x00\x00\x00WAVEfmt '],
    ['nothing', ''],
  ])('takes %s for no image', (_name, text) => {
    expect(readImage(Buffer.from(text, 'latin1'))).toBeUndefined();
  });

  it.each<[string, Uint8Array, string]>([
    [
      'HTML with the begin of a PNG',
      Buffer.from('\x89PNG\r\n\x1a\n<html>', 'latin1'),
      'IMAGE_INVALID',
    ],
    ['a PNG whose header was changed', changed('PNG', 19, 9), 'its header is damaged'],
    ['a PNG of no width', pngOf(0, 2, Buffer.alloc(8)), 'it has no pixels'],
    ['a PNG of 10 gigapixels', pngOf(100_000, 100_000, Buffer.alloc(8)), 'IMAGE_TOO_LARGE'],
    [
      'a JPEG of 65,535 by 65,535',
      changed('JPEG', bytesOf('JPEG').indexOf('ffc0', 'hex') + 5, 255, 255, 255, 255),
      'IMAGE_TOO_LARGE',
    ],
    ['a GIF of 65,535 by 65,535', changed('GIF', 6, 255, 255, 255, 255), 'IMAGE_TOO_LARGE'],
    [
      'a GIF with a picture larger than it',
      changed('GIF', 6, 2, 0),
      'a picture in it is larger than it says',
    ],
    [
      'a WebP with a picture of another size',
      changed('animated WebP', 24, 0),
      'a picture in it has another size than it says',
    ],
    [
      'a WebP whose bits say another size',
      changed('animated WebP', bytesOf('animated WebP').lastIndexOf('VP8 ') + 14, 255, 63),
      'a picture in it has another size than it says',
    ],
    [
      'a JPEG that says its size twice',
      Buffer.concat([
        bytesOf('JPEG').subarray(0, -2),
        Buffer.from('ffc0000bffffffff', 'hex'),
        bytesOf('JPEG').subarray(-2),
      ]),
      'it says its size twice',
    ],
    [
      'a JPEG of 70 scans',
      Buffer.concat([
        bytesOf('JPEG').subarray(0, -2),
        Buffer.from('ffda'.repeat(70), 'hex'),
        bytesOf('JPEG').subarray(-2),
      ]),
      'it comes in more than 64 scans',
    ],
    [
      'an image of too many bytes',
      Buffer.concat([bytesOf('PNG'), Buffer.alloc(MAX_IMAGE_BYTES)]),
      'IMAGE_TOO_LARGE',
    ],
  ])('refuses %s', (_name, bytes, said) => {
    expect(problemOf(bytes)).toContainEqual(expect.stringContaining(said));
  });

  it('unpacks nothing: a bomb that says a small size is for a scaler to find', () => {
    expect(readImage(pngOf(10, 10, Buffer.from('no data of a PNG')))).toMatchObject({ ok: true });
  });

  it('never throws, whatever the bytes', () => {
    const samples = Object.values(SAMPLE_IMAGES).map(({ bytes }) => bytes);
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.nat(800), fc.nat(255)), { maxLength: 6 }),
        (bytes, changes) => {
          const copy = Buffer.from(bytes);
          for (const [at, value] of changes) copy[at % copy.length] = value;
          const read = readImage(copy);
          if (read?.ok === true) expect(read.width * read.height).toBeLessThanOrEqual(40_000_000);
        },
      ),
      { numRuns: 300 },
    );
  });
});
