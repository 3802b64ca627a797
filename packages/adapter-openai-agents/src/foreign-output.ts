import type { ToolResult } from '@ethosagent/types';

type Success = Extract<ToolResult, { ok: true }>;

interface Part {
  text: string;
  image?: { mediaType: string; data: string };
}

/**
 * Converts the output of a framework's tool: a text, its parts of text and images, or a value as
 * JSON.
 */
export function resultOf(output: unknown): Success {
  const list = Array.isArray(output) && output.length > 0 ? output : [output];
  const parts = list.map(partOf);
  if (!parts.every((part) => part !== undefined)) return { ok: true, value: textOf(output) };
  const images = parts.flatMap(({ image }) => image ?? []);
  return {
    ok: true,
    value: parts.map(({ text }) => text).join('\n'),
    ...(images.length > 0 && { structured: { images } }),
  };
}

function partOf(value: unknown): Part | undefined {
  if (!isRecord(value)) return undefined;
  if (value.type === 'text' && typeof value.text === 'string') return { text: value.text };
  if (value.type !== 'image') return undefined;
  const image = imageOf(value.image, value.mediaType);
  return image && { text: `[image, ${image.mediaType}]`, image };
}

/** Returns an image whose bytes are in the result. An image behind a URL or id is not fetched. */
function imageOf(image: unknown, mediaType: unknown): Part['image'] {
  if (typeof image === 'string') {
    const [, type, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(image) ?? [];
    return type !== undefined && data !== undefined ? { mediaType: type, data } : undefined;
  }
  if (!isRecord(image)) return undefined;
  const { data } = image;
  const type = image.mediaType ?? mediaType;
  if (typeof type !== 'string') return undefined;
  if (data instanceof Uint8Array) {
    return { mediaType: type, data: Buffer.from(data).toString('base64') };
  }
  return typeof data === 'string' ? { mediaType: type, data } : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
