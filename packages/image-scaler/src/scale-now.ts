import { fliph, flipv, PhotonImage, resize, rotate, SamplingFilter } from '@cf-wasm/photon/node';
import type { ImageFile, ImageTarget } from '@ethosagent/types';
import { jpegOrientation } from './jpeg-orientation.js';
import { plainPng } from './plain-png.js';

/** The job of the thread. */
export type ScaleJob = ImageFile & Pick<ImageTarget, 'maxSidePixels' | 'maxBytes'>;

/** If there are too many bytes, the quality is reduced first, then the number of pixels. */
const QUALITIES = [85, 70, 50];
const SMALLER = 0.7;
const SMALLEST_SIDE = 64;

/**
 * Unpacks an image from an untrusted source, and packs it again in the requested size.
 *
 * @returns the bytes of a PNG or JPEG; `undefined` if no size fits `maxBytes`
 * @throws the error of WebAssembly for bytes that can't be unpacked
 */
export function scaleNow(job: ScaleJob): Uint8Array | undefined {
  const bytes = job.mediaType === 'image/png' ? plainPng(job.bytes) : job.bytes;
  const unpacked = PhotonImage.new_from_byteslice(bytes);
  // The size in the header may be wrong, so the size that the decoder made counts.
  let side = Math.min(job.maxSidePixels, Math.max(unpacked.get_width(), unpacked.get_height()));
  // The image is turned once it is smaller: turning all its pixels would take twice their memory on top.
  const image = upright(resized(unpacked, side), job);
  for (
    let least = Math.min(side, SMALLEST_SIDE);
    side >= least;
    side = Math.floor(side * SMALLER)
  ) {
    const scaled = resized(image, side);
    const packed = packedAs(scaled, job);
    if (packed !== undefined) return packed;
  }
  return undefined;
}

function resized(image: PhotonImage, side: number): PhotonImage {
  const factor = side / Math.max(image.get_width(), image.get_height());
  if (factor >= 1) return image;
  const pixels = (length: number) => Math.max(1, Math.round(length * factor));
  const width = pixels(image.get_width());
  return resize(image, width, pixels(image.get_height()), SamplingFilter.Triangle);
}

/**
 * Packs an image without loss if it had no loss before and that fits `maxBytes`, so that lines and
 * text stay sharp.
 */
function packedAs(image: PhotonImage, { mediaType, maxBytes }: ScaleJob): Uint8Array | undefined {
  if (mediaType !== 'image/jpeg') {
    const png = image.get_bytes();
    if (png.length <= maxBytes) return png;
  }
  for (const quality of QUALITIES) {
    const jpeg = image.get_bytes_jpeg(quality);
    if (jpeg.length <= maxBytes) return jpeg;
  }
  return undefined;
}

function upright(image: PhotonImage, { mediaType, bytes }: ScaleJob): PhotonImage {
  const orientation = mediaType === 'image/jpeg' ? jpegOrientation(bytes) : 1;
  if ([2, 5, 7].includes(orientation)) fliph(image);
  if (orientation === 4) flipv(image);
  const degrees = new Map([
    [3, 180],
    [5, 270],
    [6, 90],
    [7, 90],
    [8, 270],
  ]).get(orientation);
  return degrees === undefined ? image : rotate(image, degrees);
}
