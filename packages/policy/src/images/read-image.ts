import type { ImageFacts, ImageMediaType } from '@ethosagent/types';
import { gifSize } from './gif.js';
import { ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';
import { jpegSize } from './jpeg.js';
import { pngSize } from './png.js';
import { webpSize } from './webp.js';

/** Bytes of an image that are read at all. */
export const MAX_IMAGE_BYTES = 20_000_000;
/** Pixels of an image that somebody may unpack: 160 MB of memory, and a photo of 40 megapixels. */
export const MAX_IMAGE_PIXELS = 40_000_000;

/** What bytes are that begin like an image, or why they are none. */
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
  /** What a file of it begins with, as Latin-1; a dot stands for any byte. */
  begins: RegExp;
  sizeOf: (file: ImageBytes) => ImageSize;
}

const KINDS: readonly Kind[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a PNG begins with
  { mediaType: 'image/png', begins: /^\x89PNG\r\n\x1a\n/, sizeOf: pngSize },
  { mediaType: 'image/jpeg', begins: /^\xff\xd8\xff/, sizeOf: jpegSize },
  { mediaType: 'image/gif', begins: /^GIF8[79]a/, sizeOf: gifSize },
  { mediaType: 'image/webp', begins: /^RIFF.{4}WEBP/s, sizeOf: webpSize },
];

/**
 * What an image is by its content, whatever it is called: nothing of it is unpacked. It is walked
 * through to its end, so that one that is cut off, or says one size and has another, is told.
 *
 * @param bytes the whole file
 * @returns `undefined` for bytes that begin like none of the four kinds that models read
 */
export function readImage(bytes: Uint8Array): ImageReading | undefined {
  const begin = String.fromCharCode(...bytes.subarray(0, 12));
  const kind = KINDS.find(({ begins }) => begins.test(begin));
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
