import type { ToolResult } from '@ethosagent/types';
import type { ResultImage } from './journal/records.js';
import { isListOf, isShape, isString } from './journal/shape.js';

/** Images of one result that are kept. */
const MAX_IMAGES = 4;
/** Characters of base64 of one image: about 3 MB. */
const MAX_IMAGE_CHARS = 4_000_000;
/** Of all images of a result together, below what a store takes for a message. */
const MAX_TOTAL_CHARS = 6_000_000;

const isImages = isListOf(isShape({ mediaType: isString, data: isString }));

/** The images of a result by the convention `structured.images: { mediaType, data }[]`. */
export function imagesOf(result: ToolResult): ResultImage[] {
  const images = result.ok ? result.structured?.images : undefined;
  if (!isImages(images)) return [];
  let total = 0;
  return images
    .filter(({ mediaType, data }) => {
      if (!/^image\/[\w.+-]{1,64}$/.test(mediaType) || data.length > MAX_IMAGE_CHARS) return false;
      if (total + data.length > MAX_TOTAL_CHARS) return false;
      total += data.length;
      return true;
    })
    .slice(0, MAX_IMAGES)
    .map(({ mediaType, data }) => ({ mediaType, data }));
}

/** Providers whose tool results can hold images; others get them as text, or refuse the request. */
const WITH_IMAGES =
  /^(?:anthropic|openai\.responses|google|vertex|amazon-bedrock|azure\.responses)/;

/** Whether a model takes images in tool results, as far as the name of its provider says. */
export function takesImages(model: unknown): boolean {
  const { provider }: { provider?: unknown } = Object(model);
  return typeof provider === 'string' && WITH_IMAGES.test(provider);
}
