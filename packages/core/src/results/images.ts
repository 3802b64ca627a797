import { isListOf, isShape, isString } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';

/** An image of a result: `image/png`, `image/jpeg`, `image/gif` or `image/webp`; data in base64. */
export interface ResultImage {
  mediaType: string;
  data: string;
}

/** Images of one result that are kept. */
const MAX_IMAGES = 4;
/** Characters of base64 of one image: about 3 MB. */
const MAX_IMAGE_CHARS = 4_000_000;
/** Of all images of a result together, below what a store takes for a message. */
const MAX_TOTAL_CHARS = 6_000_000;

const isImages = isListOf(isShape({ mediaType: isString, data: isString }));

/** What a file of each kind begins with, in hex; a dot stands for any digit. */
const KINDS: readonly [mediaType: string, begin: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
];

/**
 * The images of a result by the convention `structured.images: { mediaType, data }[]`. Those that a
 * provider would refuse are left out: they would be in every later request of the session.
 *
 * @param result of a tool
 * @returns the images, with the media type that their bytes have
 */
export function imagesOf(result: ToolResult): ResultImage[] {
  const images = result.ok ? result.structured?.images : undefined;
  if (!isImages(images)) return [];
  const kept: ResultImage[] = [];
  let total = 0;
  for (const { data } of images) {
    if (kept.length === MAX_IMAGES) break;
    if (data.length > MAX_IMAGE_CHARS || total + data.length > MAX_TOTAL_CHARS) continue;
    const mediaType = kindOf(data);
    if (mediaType === undefined) continue;
    total += data.length;
    kept.push({ mediaType, data });
  }
  return kept;
}

/** What an image is, whatever it is called. */
function kindOf(data: string): string | undefined {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  const begin = Buffer.from(data.slice(0, 32), 'base64').toString('hex');
  return KINDS.find(([, magic]) => magic.test(begin))?.[0];
}
