import { fliph, flipv, PhotonImage, resize, rotate, SamplingFilter } from '@cf-wasm/photon/node';
import type { ImageFile, ImageTarget } from '@ethosagent/types';
import { jpegOrientation } from './jpeg-orientation.js';
import { plainPng } from './plain-png.js';

/** What the thread is asked for. */
export type ScaleJob = ImageFile & Pick<ImageTarget, 'maxSidePixels' | 'maxBytes'>;

/** Where the bytes are still too many: less quality first, then fewer pixels. */
const QUALITIES = [85, 70, 50];
const SMALLER = 0.7;
const SMALLEST_SIDE = 64;

/**
 * Unpacks an image, whoever wrote it, and packs it again as it is to be.
 *
 * @throws what WebAssembly says of bytes that it can not unpack
 */
export function scaleNow(job: ScaleJob): Uint8Array | undefined {
  const bytes = job.mediaType === 'image/png' ? plainPng(job.bytes) : job.bytes;
  const unpacked = PhotonImage.new_from_byteslice(bytes);
  // A decoder goes by the bits: what it made is what counts.
  let side = Math.min(job.maxSidePixels, Math.max(unpacked.get_width(), unpacked.get_height()));
  // To turn all pixels would take their memory twice more.
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

/** Lines and text stay sharp where the image had no loss before, and there is room. */
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
