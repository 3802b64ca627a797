import { readImage } from '@ethosagent/policy';
import type { ImageFile, ImageMediaType, ImageScaler, ToolResult } from '@ethosagent/types';
import { bytesOf, givenImages, MAX_GIVEN, type ResultImage } from './given-images.js';
import { MOST_TOTAL_BYTES, type ProviderImageLimits } from './image-limits.js';

/** How a model sees images. */
export interface ShowImagesOptions {
  /** `false` for a model that takes no images. */
  limits: ProviderImageLimits | false;
  scaler?: ImageScaler | undefined;
  signal?: AbortSignal;
}

/** What a model gets of the images of a result. */
export interface ShownImages {
  images: ResultImage[];
  /**
   * What the model is told about images that were made smaller or left out; `''` if there are none.
   */
  note: string;
}

/** Why an image was left out. */
interface LeftOut {
  why: string;
}

/**
 * The images of a result in a form that a model accepts: with the media type of their content, and
 * made smaller if they are too large. An image that can't be shown is left out. The note says that,
 * and what to do. Never rejects: if a scaler throws or is aborted, the image is left out.
 *
 * @param result of a tool
 * @param options what the model accepts, and the scaler
 * @returns the images, and a line for the model about each image that was changed or left out
 */
export async function showImages(
  result: ToolResult,
  options: ShowImagesOptions,
): Promise<ShownImages> {
  const given = givenImages(result);
  const images: ResultImage[] = [];
  const notes: string[] = [];
  let left = MOST_TOTAL_BYTES;
  for (const [index, { data }] of given.slice(0, MAX_GIVEN).entries()) {
    const which = given.length === 1 ? 'the image' : `image ${index + 1}`;
    const read = fileOf(data);
    if ('why' in read) {
      notes.push(`${which} is left out: ${read.why}`);
      continue;
    }
    const what = `${which} (${read.mediaType}, ${read.width} × ${read.height} pixels)`;
    const shown = await shownOf(read, { ...options, left, count: images.length });
    if ('why' in shown) {
      notes.push(`${what} is left out: ${shown.why}`);
      continue;
    }
    if (shown !== read) notes.push(`${what} is shown at ${shown.width} × ${shown.height}`);
    left -= shown.bytes.length;
    const same = shown === read ? data : Buffer.from(shown.bytes).toString('base64');
    images.push({ mediaType: shown.mediaType, data: same });
  }
  const more = given.length - MAX_GIVEN;
  if (more > 0) notes.push(`${more} more images are left out`);
  return { images, note: notes.map((note) => `[${note}]`).join('\n') };
}

function fileOf(data: string): ImageFile | LeftOut {
  const read = bytesOf(data);
  if ('problem' in read) return { why: read.problem };
  const { bytes } = read;
  const facts = readImage(bytes);
  if (facts === undefined) return { why: 'it is no PNG, JPEG, GIF or WebP' };
  if (!facts.ok) return { why: facts.problem };
  const { mediaType, width, height } = facts;
  return { mediaType, width, height, bytes };
}

async function shownOf(
  file: ImageFile,
  { limits, scaler, signal, left, count }: ShowImagesOptions & { left: number; count: number },
): Promise<ImageFile | LeftOut> {
  if (limits === false) return { why: 'this model takes no images in results of tools' };
  const { maxImages, maxSidePixels, fitSidePixels } = limits;
  if (count >= maxImages) return { why: `a result may show ${maxImages} images` };
  const maxBytes = Math.min(limits.maxBytes, left);
  const { mediaTypes } = limits;
  if (fits(file, { maxBytes, maxSide: fitSidePixels, mediaTypes })) return file;
  const target = { maxSidePixels: fitSidePixels, maxBytes, ...(signal && { signal }) };
  const scaled = scaler && (await scaledBy(scaler, file, target));
  if (
    scaled &&
    'bytes' in scaled &&
    fits(scaled, { maxBytes, maxSide: fitSidePixels, mediaTypes })
  ) {
    return scaled;
  }
  if (fits(file, { maxBytes, maxSide: maxSidePixels, mediaTypes })) return file;
  const limit = !mediaTypes.includes(file.mediaType)
    ? `not every model takes ${file.mediaType}`
    : `a model gets at most ${maxBytes} bytes and ${maxSidePixels} pixels a side, and it has ${file.bytes.length} bytes`;
  return {
    why: scaler
      ? `${limit}; it could not be made to fit`
      : `${limit}. The operator can install @ethosagent/image-scaler, which makes images smaller, and a PNG of a GIF`,
  };
}

function fits(
  { bytes, width, height, mediaType }: ImageFile,
  {
    maxBytes,
    maxSide,
    mediaTypes,
  }: { maxBytes: number; maxSide: number; mediaTypes: readonly ImageMediaType[] },
): boolean {
  return (
    mediaTypes.includes(mediaType) && bytes.length <= maxBytes && Math.max(width, height) <= maxSide
  );
}

/** What a scaler returns is read again: it worked on untrusted bytes. */
async function scaledBy(
  scaler: ImageScaler,
  file: ImageFile,
  target: Parameters<ImageScaler['scale']>[1],
): Promise<ImageFile | undefined> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await scaler.scale(file, target);
  } catch {
    return undefined;
  }
  const facts = bytes && readImage(bytes);
  if (bytes === undefined || facts?.ok !== true) return undefined;
  const { mediaType, width, height } = facts;
  return { mediaType, width, height, bytes };
}
