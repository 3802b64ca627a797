import { createHash } from 'node:crypto';
import { isShape, isString, MAX_IMAGE_BYTES, readImage } from '@ethosagent/policy';
import type { AuditImage, ToolResult } from '@ethosagent/types';

/** An image of a result: `image/png`, `image/jpeg`, `image/gif` or `image/webp`; data in base64. */
export interface ResultImage {
  mediaType: string;
  data: string;
}

const isImage = isShape({ mediaType: isString, data: isString });
const MAX_CHARS = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;
/** How many images of a result are checked. */
export const MAX_GIVEN = 16;

/** The images that a result holds, by the convention `structured.images: { mediaType, data }[]`. */
export function givenImages(result: ToolResult): readonly ResultImage[] {
  const images = result.ok ? result.structured?.images : undefined;
  return Array.isArray(images) ? images.filter(isImage) : [];
}

/** The bytes of a base64 text, or why it has none. */
export function bytesOf(data: string): { bytes: Uint8Array } | { problem: string } {
  if (data.length > MAX_CHARS) {
    return { problem: `it has more than ${MAX_IMAGE_BYTES} bytes` };
  }
  const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  return isBase64 ? { bytes: Buffer.from(data, 'base64') } : { problem: 'it is no base64' };
}

/** What is recorded about the images of a result. */
export function auditImages(result: ToolResult): AuditImage[] {
  return givenImages(result).slice(0, MAX_GIVEN).map(factsOf);
}

/**
 * A payload without the bytes of its images, for a place where those are stored separately.
 *
 * @param structured the payload of a result
 * @returns the same payload; each image as its media type, size in bytes and SHA-256
 */
export function withoutImageBytes(structured: Record<string, unknown>): Record<string, unknown> {
  const { images } = structured;
  if (!Array.isArray(images) || !images.some(isImage)) return structured;
  return { ...structured, images: images.map((one) => (isImage(one) ? factsOf(one) : one)) };
}

function factsOf({ data }: ResultImage): AuditImage {
  const read = bytesOf(data);
  const bytes = 'bytes' in read ? read.bytes : Buffer.from(data);
  return {
    mediaType: readImage(bytes)?.mediaType ?? 'unknown',
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}
