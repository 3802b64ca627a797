import type { ImageBlockParam, TextBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { ResultImage, SessionResult } from '@ethosagent/core';

/** The part of a result that the model reads: text alone, or text and images. */
export type ResultContent = string | (TextBlockParam | ImageBlockParam)[];

/** Returns the text, as the session marked it, and the images. */
export function contentOf({ text, images }: Pick<SessionResult, 'text' | 'images'>): ResultContent {
  if (images.length === 0) return text;
  const shown = images.flatMap(imageOf);
  // The API refuses an empty text block.
  return text === '' ? shown : [{ type: 'text', text }, ...shown];
}

function imageOf({ mediaType, data }: ResultImage): ImageBlockParam[] {
  switch (mediaType) {
    case 'image/png':
    case 'image/jpeg':
    case 'image/gif':
    case 'image/webp':
      return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
    default:
      return [];
  }
}
