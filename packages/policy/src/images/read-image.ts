import type { ImageFacts, ImageMediaType } from '@ethosagent/types';
import { gifSize } from './gif.js';
import { ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';
import { jpegSize } from './jpeg.js';
import { pngSize } from './png.js';
import { webpSize } from './webp.js';

/** The largest file that is read as an image, in bytes. */
export const MAX_IMAGE_BYTES = 20_000_000;
/** The most pixels that may be unpacked: 160 MB of memory, and a photo of 40 megapixels. */
export const MAX_IMAGE_PIXELS = 40_000_000;

/** The image that bytes are, or the reason why bytes that begin like an image are not one. */
export type ImageReading =
  | ({ ok: true } & ImageFacts)
  | {
      ok: false;
      mediaType: ImageMediaType;
      cause: 'IMAGE_INVALID' | 'IMAGE_TOO_LARGE';
      /** A sentence part: `it is cut off`. */
      problem: string;
    };

interface Kind {
  mediaType: ImageMediaType;
  /** Whether a file of this kind can have these first bytes, as Latin-1. */
  begins: (file: string) => boolean;
  sizeOf: (file: ImageBytes) => ImageSize;
}

const KINDS: readonly Kind[] = [
  {
    mediaType: 'image/png',
    begins: (file) => file.startsWith('\x89PNG\r\n\x1a\n'),
    sizeOf: pngSize,
  },
  { mediaType: 'image/jpeg', begins: (file) => file.startsWith('\xff\xd8\xff'), sizeOf: jpegSize },
  { mediaType: 'image/gif', begins: (file) => /^GIF8[79]a/.test(file), sizeOf: gifSize },
  {
    mediaType: 'image/webp',
    begins: (file) => file.startsWith('RIFF') && file.startsWith('WEBP', 8),
    sizeOf: webpSize,
  },
];

/**
 * Recognises an image by its content, whatever its name is. Nothing is unpacked. The file is
 * walked through to its end, so that a file that is cut off, or has another size than it says, is
 * refused.
 *
 * @param bytes the whole file
 * @returns `undefined` for bytes that don't begin like one of the four kinds that models read
 */
export function readImage(bytes: Uint8Array): ImageReading | undefined {
  const begin = String.fromCharCode(...bytes.subarray(0, 12));
  const kind = KINDS.find(({ begins }) => begins(begin));
  if (kind === undefined) return undefined;
  const { mediaType, sizeOf } = kind;
  if (bytes.length > MAX_IMAGE_BYTES) {
    const problem = `it has ${bytes.length} bytes, and at most ${MAX_IMAGE_BYTES} are read`;
    return { ok: false, mediaType, cause: 'IMAGE_TOO_LARGE', problem };
  }
  try {
    const { width, height } = sizeOf(new ImageBytes(bytes));
    if (width === 0 || height === 0) throw new ImageProblem('it has no pixels');
    if (width * height <= MAX_IMAGE_PIXELS) return { ok: true, mediaType, width, height };
    const problem = `it has ${width} × ${height} pixels, and at most ${MAX_IMAGE_PIXELS} are read`;
    return { ok: false, mediaType, cause: 'IMAGE_TOO_LARGE', problem };
  } catch (error) {
    if (!(error instanceof ImageProblem)) throw error;
    return { ok: false, mediaType, cause: 'IMAGE_INVALID', problem: error.problem };
  }
}
